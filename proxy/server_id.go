package proxy

import (
	"cmp"
	"slices"

	"github.com/tenantgate/tenantgate/policy"
)

// CheckServerID gives InvalidRequest where a server of this id could not use a table of the policy that is named: its scope
// column can't hold the id. known is false where the types can't be known: the policy is not among the files, or the schema
// has none of its tables.
func CheckServerID(files []*policy.File, s policy.Schema, name, id string) (known bool, err error) {
	i := slices.IndexFunc(files, func(f *policy.File) bool { return f.Name == name })
	if i < 0 {
		return false, nil
	}
	known, unfit := files[i].CheckServerID(s, id)
	if unfit != nil {
		return known, &Error{Code: InvalidRequest, Message: "a server's id must be one that its rows can have: " + unfit.Error(),
			Hint: "give the id that the rows have; where none is given, a UUID is made"}
	}
	return known, nil
}

// CheckServerID is the same of the policies as they are loaded and the schema as it was read last. assigned is the policy of
// the server's project; "" for none, and so the default one. An id passes where the types are not known: no statement of its
// server is admitted then, either.
func (p *Policies) CheckServerID(assigned, id string) error {
	_, err := CheckServerID(p.config.Files, p.current.Load().schema, cmp.Or(assigned, p.config.Default), id)
	return err
}
