// Package smith replays what sqlsmith writes, a generator of statements that knows nothing of
// tenantgate, through a connection that is one server's.
//
// sqlsmith reads the catalog of a database and prints what fits it. One half of the statements
// are for a catalog as it is: most of those name what no policy admits. The other half are for
// one that shows only the functions, types, tables and columns of the policy, so that nearly
// all of them are admitted.
//
// Of every statement it is demanded that nothing of another server's rows is in any byte that
// comes back, and that the connection goes on working. What a policy refused, by its code in
// DETAIL, is not looked at further. The answer to all else must be the one of a database that
// holds the server's rows alone: columns, rows, command tag and SQLSTATE. A statement is
// unsettled, and not compared, where that database itself answers in more than one way, or
// as tenantgate did with another plan; where it does once each `limit 1 offset n` is told which
// row to take; or where only one of the two answers is an error of
// values, and tenantgate in front of the server's rows alone gives its answer too.
package smith
