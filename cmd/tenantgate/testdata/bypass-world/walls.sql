-- Row-level security on the tables of extra.yaml, as on the bundled ones.

ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenantgate_server ON shop.orders USING (tenant = (SELECT tenantgate_wall.server()::uuid)) WITH CHECK (tenant = (SELECT tenantgate_wall.server()::uuid));
ALTER TABLE shop.events ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenantgate_server ON shop.events USING (tenant = (SELECT tenantgate_wall.server()::uuid)) WITH CHECK (tenant = (SELECT tenantgate_wall.server()::uuid));
ALTER TABLE shop.cased ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenantgate_server ON shop.cased USING (tenant = (SELECT tenantgate_wall.server()::public.citext)) WITH CHECK (tenant = (SELECT tenantgate_wall.server()::public.citext));
ALTER TABLE shop.padded ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenantgate_server ON shop.padded USING (tenant = (SELECT tenantgate_wall.server()::bpchar)) WITH CHECK (tenant = (SELECT tenantgate_wall.server()::bpchar));
