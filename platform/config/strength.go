package config

import (
	"fmt"
	"reflect"

	"github.com/spf13/pflag"

	"github.com/plaza-social/plaza/platform/dburl"
	"github.com/plaza-social/plaza/platform/telemetry"
)

const (
	minSecretLength     = 16 // characters
	minSecretCharacters = 5  // different ones
)

// checkStrength returns an error for a secret that can be guessed. Database URLs are not checked, because the database
// decides about its passwords.
func checkStrength(s setting) error {
	secret, ok := reflect.TypeAssert[telemetry.Secret](s.field)
	if !ok || secret == "" {
		return nil
	}
	different := map[rune]bool{}
	for _, r := range secret.Reveal() {
		different[r] = true
	}
	if len(secret.Reveal()) >= minSecretLength && len(different) >= minSecretCharacters {
		return nil
	}
	return &Error{Source: s.name, Reason: fmt.Sprintf(
		"must have at least %d characters, %d of them different; openssl rand -hex 32 makes one", minSecretLength, minSecretCharacters,
	)}
}

// SecretArguments returns a warning for each secret that a flag contains, because other users of the machine see the
// arguments of processes.
func SecretArguments(flags *pflag.FlagSet) []string {
	var warnings []string
	var c Config
	for _, s := range settingsOf(&c) {
		text, given := givenFlag(flags, s.name)
		if !s.secret || !given || !isSecretText(s, text) {
			continue
		}
		warnings = append(warnings, fmt.Sprintf("flag %s: other users of this machine see it among the arguments of the process; use %s or %s",
			flagName(s.name), flagName(s.name+fileSuffix), envName(s.name+fileSuffix)))
	}
	return warnings
}

// isSecretText reports whether the value of a secret setting is one: a database URL only if it has a password.
func isSecretText(s setting, text string) bool {
	if _, isURL := reflect.TypeAssert[dburl.URL](s.field); !isURL {
		return text != ""
	}
	u, err := dburl.Parse(text)
	return err != nil || u.HasPassword()
}
