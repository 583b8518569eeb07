package policy

import (
	"testing"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

func TestCanonical(t *testing.T) {
	const uuid = "01a1fd8d-0b00-7048-b8e5-47b190298c79"
	for _, c := range []struct {
		schema, name, id string
		want             bool
	}{
		{"pg_catalog", "text", "Srv 042", true}, {"pg_catalog", "varchar", "x", true}, {"pg_catalog", "varchar", "x ", false}, {"pg_catalog", "bpchar", "x ", false},
		{"pg_catalog", "int8", "42", true}, {"pg_catalog", "int8", "042", false}, {"pg_catalog", "int8", "+42", false}, {"pg_catalog", "int4", " 42", false}, {"pg_catalog", "int8", "x", false},
		{"pg_catalog", "int2", "-32768", true}, {"pg_catalog", "int2", "32768", false}, {"pg_catalog", "int4", "2147483647", true}, {"pg_catalog", "int4", "2147483648", false},
		{"pg_catalog", "int8", "9223372036854775807", true}, {"pg_catalog", "int8", "9223372036854775808", false},
		{"pg_catalog", "uuid", uuid, true}, {"pg_catalog", "uuid", "{" + uuid[1:35] + "}", false}, {"pg_catalog", "uuid", "01A1fd8d-0b00-7048-b8e5-47b190298c79", false}, {"pg_catalog", "uuid", "01a1fd8d0b007048b8e547b190298c79", false}, {"pg_catalog", "uuid", "g" + uuid[1:], false}, {"pg_catalog", "uuid", uuid[:35] + "/", false},
		{"pg_catalog", "uuid", uuid[:35] + ":", false}, {"pg_catalog", "uuid", uuid[:35] + "`", false}, {"pg_catalog", "uuid", uuid[:35] + "-", false},
		{"public", "citext", "abc", true}, {"public", "citext", "Abc", false}, {"pg_catalog", "numeric", "42", false}, {"public", "text", "x", false},
	} {
		if got := canonical(c.id, tree.TypeName{Schema: c.schema, Name: c.name}); got != c.want {
			t.Errorf("%q as %s.%s: %v", c.id, c.schema, c.name, got)
		}
	}
}
