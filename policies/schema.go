package policies

import (
	_ "embed"
	"slices"
)

//go:embed bundled-schema.json
var bundledSchema []byte

// BundledSchema is the bundled tables as a policy.Schema in JSON: what the control
// package's migrations make, for deciding without a database. The caller owns the bytes.
func BundledSchema() []byte { return slices.Clone(bundledSchema) }
