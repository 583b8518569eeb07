// Package frame reads and writes the messages of Postgres' protocol, version 3 (PostgreSQL
// manual, "Message Formats"): a byte for the type, the length of the rest including
// its own four bytes, the content. It knows the format of messages but not
// their meaning, so it serves both sides. Its user sets all limits: the longest message that a Reader
// accepts, and how much a Writer collects before it is flushed.
package frame
