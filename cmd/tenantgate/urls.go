package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/jackc/pgx/v5"
)

// checkURLs refuses database URLs that can't be read, or that were read otherwise than
// meant: what follows a @ in a password becomes the host, which errors name.
func checkURLs(command *kong.Context) error {
	for _, flag := range command.Flags() {
		url, _ := command.FlagValue(flag).(string)
		if !flag.Tag.Has("secret") || flag.PlaceHolder != "URL" || url == "" {
			continue
		}
		config, err := pgx.ParseConfig(url)
		if err != nil || strings.ContainsAny(config.Host, "@#?") {
			return fmt.Errorf("--%s can't be read as a URL of Postgres (not shown, it may hold a password): write postgres://role:password@host:5432/database, "+
				"and in the password %%40 for @, %%23 for #, %%2F for /, %%3A for :, %%3F for ?, %%25 for %%", flag.Name)
		}
	}
	return nil
}
