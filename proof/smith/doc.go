// Package smith replays what sqlsmith writes, a generator of statements that knows nothing of
// tenantgate, through a connection that is one server's.
//
// sqlsmith reads the catalog of a database and prints what fits it. One half of the statements
// are for a catalog as it is: most of those name what no policy admits. The other half are for
// one that shows only the functions and tables of the policy, so that many are admitted.
//
// Of every statement it is demanded that nothing of another server's rows is in any byte that
// comes back, and that the connection goes on working. Where a statement is admitted, its
// answer must be the one of a database that holds the server's rows alone, unless that
// itself answers in more than one way: with its rows in another order, or asked again.
package smith
