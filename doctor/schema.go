package doctor

import "github.com/tenantgate/tenantgate/wall"

// schemaSQL makes the schema, the table of keys without a key, and the function of package
// wall, in a database that has none of them: the same that the migration makes. The keys
// themselves are the migration's to make.
const schemaSQL = `CREATE SCHEMA IF NOT EXISTS ` + wall.Schema + `;
` + wall.Objects + `GRANT USAGE ON SCHEMA ` + wall.Schema + ` TO {role};
GRANT EXECUTE ON FUNCTION ` + wall.Server + `() TO {role};`
