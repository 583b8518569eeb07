package main

import (
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy/upstream"
)

// The values of --rls.
const (
	rlsRequired = "required"
	rlsOff      = "off"
)

// wall is what statements need for row-level security.
func (sv *service) wall() upstream.Wall {
	if sv.settings.RLS == rlsOff {
		return upstream.Wall{}
	}
	return upstream.Wall{Key: sv.store.WallKey, Scopes: scopes(sv.files)}
}

// scopes gives the scope column of every scoped table. A table that two policies scope by
// different columns is left out: no one condition in the database serves both.
func scopes(files []*policy.File) map[policy.TableName]string {
	columns := map[policy.TableName]string{}
	for _, f := range files {
		for _, t := range f.Tables {
			if !t.Scoped {
				continue
			}
			if other, known := columns[t.TableName]; known && other != t.Column {
				columns[t.TableName] = ""
				continue
			}
			columns[t.TableName] = t.Column
		}
	}
	return columns
}
