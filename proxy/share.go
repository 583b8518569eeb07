package proxy

// Share is how much one server may hold of n that all servers share: three quarters, so that
// the others have some, and all where there are fewer than four.
func Share[N int | int64](n N) N { return n - n/4 }
