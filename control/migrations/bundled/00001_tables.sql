-- The four server-scoped tables for a platform that starts empty.
--
-- Every key starts with server_id and every reference carries it: nothing that one server
-- writes can collide with, or point at, a row of another, and the tables can be distributed
-- by server_id as they stand.
--
-- On delete: an end user's conversations and files stay, without the user; a conversation
-- takes its messages with it; a file outlives its conversation, because its row is the only
-- trace of the stored object that storage_key names.

-- +goose Up

CREATE TABLE public.end_users (
    id               text NOT NULL DEFAULT gen_random_uuid()::text,
    server_id        text NOT NULL,
    external_user_id text NOT NULL DEFAULT '',
    username         text NOT NULL DEFAULT '',
    name             text NOT NULL DEFAULT '',
    email            text NOT NULL DEFAULT '',
    phone_number     text,
    password_hash    text,
    created_at       timestamptz NOT NULL DEFAULT now(),
    updated_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (server_id, id),
    CONSTRAINT end_users_server_id_given CHECK (server_id <> '')
);
CREATE UNIQUE INDEX end_users_email ON public.end_users (server_id, lower(email)) WHERE email <> '';
CREATE INDEX end_users_created ON public.end_users (server_id, created_at);
CREATE INDEX end_users_external ON public.end_users (server_id, external_user_id) WHERE external_user_id <> '';
CREATE INDEX end_users_username ON public.end_users (server_id, username) WHERE username <> '';

CREATE TABLE public.conversations (
    id          text NOT NULL DEFAULT gen_random_uuid()::text,
    server_id   text NOT NULL,
    end_user_id text,
    title       text NOT NULL DEFAULT '',
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (server_id, id),
    CONSTRAINT conversations_server_id_given CHECK (server_id <> ''),
    CONSTRAINT conversations_end_user FOREIGN KEY (server_id, end_user_id)
        REFERENCES public.end_users (server_id, id) ON DELETE SET NULL (end_user_id)
);
CREATE INDEX conversations_created ON public.conversations (server_id, created_at);
CREATE INDEX conversations_updated ON public.conversations (server_id, updated_at);
CREATE INDEX conversations_of_user ON public.conversations (server_id, end_user_id, created_at);

CREATE TABLE public.messages (
    id              text NOT NULL DEFAULT gen_random_uuid()::text,
    server_id       text NOT NULL,
    conversation_id text NOT NULL,
    role            text NOT NULL DEFAULT '',
    content         text NOT NULL DEFAULT '',
    metadata        jsonb NOT NULL DEFAULT '{}',
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (server_id, id),
    CONSTRAINT messages_server_id_given CHECK (server_id <> ''),
    CONSTRAINT messages_conversation FOREIGN KEY (server_id, conversation_id)
        REFERENCES public.conversations (server_id, id) ON DELETE CASCADE
);
CREATE INDEX messages_created ON public.messages (server_id, created_at);
CREATE INDEX messages_of_conversation ON public.messages (server_id, conversation_id, created_at);

CREATE TABLE public.files (
    id              text NOT NULL DEFAULT gen_random_uuid()::text,
    server_id       text NOT NULL,
    end_user_id     text,
    conversation_id text,
    name            text NOT NULL DEFAULT '',
    content_type    text NOT NULL DEFAULT '',
    size_bytes      bigint NOT NULL DEFAULT 0,
    storage_key     text,
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (server_id, id),
    CONSTRAINT files_server_id_given CHECK (server_id <> ''),
    CONSTRAINT files_size_positive CHECK (size_bytes >= 0),
    CONSTRAINT files_end_user FOREIGN KEY (server_id, end_user_id)
        REFERENCES public.end_users (server_id, id) ON DELETE SET NULL (end_user_id),
    CONSTRAINT files_conversation FOREIGN KEY (server_id, conversation_id)
        REFERENCES public.conversations (server_id, id) ON DELETE SET NULL (conversation_id)
);
CREATE INDEX files_created ON public.files (server_id, created_at);
CREATE INDEX files_of_user ON public.files (server_id, end_user_id, created_at);
CREATE INDEX files_of_conversation ON public.files (server_id, conversation_id, created_at);
