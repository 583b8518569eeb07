package main

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/jackc/pgx/v5"
)

// astray tells whether part of a password may stand where something else is read: what
// follows a # or ? in it, or a @.
func astray(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme != "" && (u.Fragment != "" || strings.Contains(u.Path+u.RawQuery, "@"))
}

// pgURL is what a Postgres client connects to as a server, at a listener's host and port.
// Everything but letters, digits and -._~ is escaped, so that it is one word of a shell's too.
func pgURL(addr, serverID, key string) string {
	id := url.QueryEscape(serverID)
	return "postgres://" + id + ":" + url.QueryEscape(key) + "@" + addr + "/" + id
}

// checkURLs refuses database URLs that can't be read, or that were read otherwise than
// meant: what follows a @ in a password becomes the host, which errors name.
func checkURLs(command *kong.Context) error {
	for _, flag := range command.Flags() {
		text, _ := command.FlagValue(flag).(string)
		if !flag.Tag.Has("secret") || flag.PlaceHolder != "URL" || text == "" {
			continue
		}
		config, err := pgx.ParseConfig(text)
		if err != nil || astray(text) || strings.Contains(config.Host, "@") && !strings.HasPrefix(config.Host, "@") {
			return fmt.Errorf("--%s can't be read as a URL of Postgres (not shown, it may hold a password): write postgres://role:password@host:5432/database, "+
				"and in the password %%40 for @, %%23 for #, %%2F for /, %%3A for :, %%3F for ?, %%25 for %%", flag.Name)
		}
	}
	return nil
}
