//go:build !linux

package policy_test

import "time"

// spent is the time of day where that of the thread can't be told.
func spent() time.Duration { return time.Duration(time.Now().UnixNano()) }
