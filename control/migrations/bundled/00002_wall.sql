-- Row-level security on the four tables: a statement sees and writes the rows of the server
-- that its transaction's signed setting names, and without one none. The conditions are
-- wall.Expression's. The owner of the tables is not bound by it, so that backups, the
-- migrations and the checks of foreign keys go on working.

-- +goose Up

ALTER TABLE public.end_users ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenantgate_server ON public.end_users
    USING (server_id = (SELECT tenantgate_wall.server())) WITH CHECK (server_id = (SELECT tenantgate_wall.server()));

ALTER TABLE public.conversations ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenantgate_server ON public.conversations
    USING (server_id = (SELECT tenantgate_wall.server())) WITH CHECK (server_id = (SELECT tenantgate_wall.server()));

ALTER TABLE public.messages ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenantgate_server ON public.messages
    USING (server_id = (SELECT tenantgate_wall.server())) WITH CHECK (server_id = (SELECT tenantgate_wall.server()));

ALTER TABLE public.files ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenantgate_server ON public.files
    USING (server_id = (SELECT tenantgate_wall.server())) WITH CHECK (server_id = (SELECT tenantgate_wall.server()));
