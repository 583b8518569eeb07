package policy_test

import (
	"syscall"
	"time"
)

// spent is the time that the present thread has had of a processor: the time of day
// would count what others on the machine do.
func spent() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thread, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
