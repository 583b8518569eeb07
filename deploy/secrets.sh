#!/bin/sh
# Creates the secrets that compose.yaml mounts, in deploy/secrets: passwords, and URLs with
# them. Existing passwords are kept, so it is safe to repeat. For a Postgres elsewhere:
#
#   DATABASE_HOST=db.internal:5432 DATABASE_OPTIONS=sslmode=verify-full deploy/secrets.sh
#
# The folder is closed to other users of this machine; the files are readable because the
# containers run as users of their own.
set -eu
umask 022
cd "$(dirname "$0")"
mkdir -p secrets
chmod 700 secrets

password() { # name
	[ -s "secrets/$1_password" ] || od -An -N24 -tx1 /dev/urandom | tr -d ' \n' >"secrets/$1_password"
	cat "secrets/$1_password"
}
url() { # role database
	printf 'postgres://tenantgate_%s:%s@%s/%s?%s' "$1" "$(password "$1")" \
		"${DATABASE_HOST:-postgres:5432}" "$2" "${DATABASE_OPTIONS:-sslmode=disable}" >"secrets/$1_url"
}

password postgres >/dev/null
password grafana >/dev/null
url control tenantgate_control
url owner tenantgate_data
url statement tenantgate_data
url lookup tenantgate_data
echo "secrets are in $(pwd)/secrets; the Grafana password of admin is in secrets/grafana_password"
