package wire

// Frontend is the name of this front end: to the gate, for the choice of a policy, and in
// metrics.
const Frontend = "wire"

// States are those that Server.Clients counts clients in.
func States() []string { return []string{"starting", "idle", "active", "transaction"} }
