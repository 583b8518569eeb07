GRANT USAGE ON SCHEMA crm, "Sales" TO tenantgate_statement;
GRANT SELECT, INSERT, UPDATE, DELETE ON crm.people, crm.log, "Sales"."Price List", crm.notes, public.notes, crm.assets, crm.cars, crm.visits TO tenantgate_statement;
GRANT SELECT ON public.countries TO tenantgate_statement;
