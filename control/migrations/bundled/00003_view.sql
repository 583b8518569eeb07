-- The policies read the view that took the place of the function tenantgate_wall.server(),
-- which "tenantgate migrate" drops afterwards. The conditions are wall.Expression's.

-- +goose Up

ALTER POLICY tenantgate_server ON public.end_users
    USING (server_id = (SELECT id FROM tenantgate_wall.server)) WITH CHECK (server_id = (SELECT id FROM tenantgate_wall.server));
ALTER POLICY tenantgate_server ON public.conversations
    USING (server_id = (SELECT id FROM tenantgate_wall.server)) WITH CHECK (server_id = (SELECT id FROM tenantgate_wall.server));
ALTER POLICY tenantgate_server ON public.messages
    USING (server_id = (SELECT id FROM tenantgate_wall.server)) WITH CHECK (server_id = (SELECT id FROM tenantgate_wall.server));
ALTER POLICY tenantgate_server ON public.files
    USING (server_id = (SELECT id FROM tenantgate_wall.server)) WITH CHECK (server_id = (SELECT id FROM tenantgate_wall.server));
