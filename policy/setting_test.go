package policy_test

import (
	"testing"

	"github.com/tenantgate/tenantgate/policy"
)

// Ensure no parameter can be set but those that change how values are read and written, and how long a lock is waited for.
func TestSetting(t *testing.T) {
	for name, settable := range map[string]bool{
		"DateStyle": true, "TimeZone": true, "IntervalStyle": true, "extra_float_digits": true, "lock_timeout": true,
		"": false, "datestyle": false, "tenantgate.server": false, "tenantgate.signature": false, "search_path": false, "role": false, "session_authorization": false,
		"row_security": false, "statement_timeout": false, "plan_cache_mode": false, "TimeZone ": false, "session_replication_role": false,
	} {
		s, ok := policy.NewSetting(name, "x")
		if ok != settable || ok && (s.Name() != name || s.Value() != "x") || !ok && s != (policy.Setting{}) {
			t.Errorf("%q: %+v %v", name, s, ok)
		}
	}
}
