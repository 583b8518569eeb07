package embedded

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
)

var settingName = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?$`)

// args are the server's arguments, settings in a stable order.
func (s *site) args(port int) []string {
	settings := defaultSettings()
	maps.Copy(settings, s.cfg.Settings)
	maps.Copy(settings, ownSettings(port))
	args := []string{"-D", s.pgData()}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	return args
}

// defaultSettings can be changed by Config.Settings. Errors of statements are not
// logged by the server: their texts quote values, and who sent the statement is told.
func defaultSettings() map[string]string {
	return map[string]string{
		"timezone":                "UTC",
		"log_timezone":            "UTC",
		"log_min_messages":        "log",
		"log_min_error_statement": "panic",
	}
}

// ownSettings decide who can reach the server and what this package reads from it.
func ownSettings(port int) map[string]string {
	return map[string]string{
		"listen_addresses":        "127.0.0.1",
		"port":                    strconv.Itoa(port),
		"unix_socket_directories": "",
		"log_destination":         "stderr",
		"logging_collector":       "off",
		"lc_messages":             "C",
	}
}

// checkSettings refuses what would be overridden, or is no setting's name.
func checkSettings(settings map[string]string) error {
	own := ownSettings(0)
	for name := range settings {
		if _, taken := own[name]; taken {
			return fmt.Errorf("setting %s can't be changed", name)
		}
		if !settingName.MatchString(name) {
			return fmt.Errorf("%q is no setting's name", name)
		}
	}
	return nil
}
