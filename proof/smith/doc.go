// Package smith replays statements of sqlsmith, a generator that knows nothing of
// tenantgate, through a connection of one server.
//
// sqlsmith reads the catalog of a database and prints statements for it. One half is generated
// from a complete catalog: most of these name what no policy admits. The other half is generated from
// a catalog that shows only the functions, types, tables and columns of the policy, so that nearly
// all of these are admitted.
//
// For every statement no value of another server's rows may be in any byte that
// comes back, and the connection must stay usable. A statement that a policy refused, by its code in
// DETAIL, is not examined further. Any other answer must be that of a database that
// holds only the server's rows: columns, rows, command tag and SQLSTATE. A statement is
// unsettled, and not compared, if that database itself answers in more than one way, or
// answers as tenantgate did with another plan, or does so once each `limit 1 offset n` is given an
// order; or if one of the two answers, or both, is an error of
// values, and tenantgate in front of the server's rows alone gives that answer too.
package smith
