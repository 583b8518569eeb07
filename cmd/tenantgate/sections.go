package main

import "github.com/tenantgate/tenantgate/control"

// endUsersSection says where the look-up by e-mail reads; what it leaves out is the
// bundled schema's. "-" in place of a column's name says that the table has none.
type endUsersSection struct {
	Schema      string        `yaml:"schema"`
	Table       string        `yaml:"table"`
	ScopeColumn string        `yaml:"scopeColumn"`
	Columns     lookupColumns `yaml:"columns"`
}

type lookupColumns struct {
	ID             string `yaml:"id"`
	ExternalUserID string `yaml:"externalUserId"`
	Username       string `yaml:"username"`
	Email          string `yaml:"email"`
	PhoneNumber    string `yaml:"phoneNumber"`
	PasswordHash   string `yaml:"passwordHash"`
}

func (e endUsersSection) config(url string) control.LookupConfig {
	return control.LookupConfig{URL: url, Schema: e.Schema, Table: e.Table, ScopeColumn: e.ScopeColumn, Columns: control.LookupColumns(e.Columns)}
}

// jwtSection names an identity provider whose tokens developers may bring; see
// control.JWTConfig.
type jwtSection struct {
	Issuer        string `yaml:"issuer"`
	Audience      string `yaml:"audience"`
	JWKS          string `yaml:"jwks"` // an https URL or a file
	ProjectsClaim string `yaml:"projectsClaim"`
	ScopesClaim   string `yaml:"scopesClaim"`
	ManageScope   string `yaml:"manageScope"`
	ReadScope     string `yaml:"readScope"`
	WriteScope    string `yaml:"writeScope"`
}

func (j *jwtSection) config() *control.JWTConfig {
	if j == nil {
		return nil
	}
	return &control.JWTConfig{
		Issuer: j.Issuer, Audience: j.Audience, JWKS: j.JWKS, ProjectsClaim: j.ProjectsClaim, ScopesClaim: j.ScopesClaim,
		ManageScope: j.ManageScope, ReadScope: j.ReadScope, WriteScope: j.WriteScope,
	}
}
