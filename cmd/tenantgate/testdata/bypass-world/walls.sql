-- Row-level security on the tables of extra.yaml, as on the bundled ones.

ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenantgate_server ON shop.orders USING (tenant = (SELECT id::uuid FROM tenantgate_wall.server)) WITH CHECK (tenant = (SELECT id::uuid FROM tenantgate_wall.server));
ALTER TABLE shop.events ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenantgate_server ON shop.events USING (tenant = (SELECT id::uuid FROM tenantgate_wall.server)) WITH CHECK (tenant = (SELECT id::uuid FROM tenantgate_wall.server));
ALTER TABLE shop.cased ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenantgate_server ON shop.cased USING (tenant = (SELECT id::public.citext FROM tenantgate_wall.server)) WITH CHECK (tenant = (SELECT id::public.citext FROM tenantgate_wall.server));
ALTER TABLE shop.padded ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenantgate_server ON shop.padded USING (tenant = (SELECT id::bpchar FROM tenantgate_wall.server)) WITH CHECK (tenant = (SELECT id::bpchar FROM tenantgate_wall.server));
