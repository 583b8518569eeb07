// Package frame reads and writes the messages of Postgres' protocol, version 3 (PostgreSQL
// manual, "Message Formats"): a byte that tells the type, the length of what follows with
// its own four bytes, the content. It knows how messages are put together and nothing of
// what they mean, so it serves both sides, and everything is bounded by its owner: a Reader
// takes no message longer than it is told, a Writer holds what its owner lets come together.
package frame
