// Package values turns an argument of a JSON request into the text that Postgres reads for a parameter of a type, and the text that
// Postgres prints for a value into JSON. It knows the built-in types, and remembers what the database says of others.
package values
