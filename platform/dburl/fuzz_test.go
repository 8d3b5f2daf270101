package dburl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/dburl"
)

// rare are the letters and digits of passwords in this test. Neither the URLs nor the messages have two of them within three characters.
const rare = "QZXJ"

// rarePassword returns a text with its letters and digits replaced.
func rarePassword(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r > 127:
			return rune(rare[int(r)%len(rare)])
		}
		return r
	}, text)
}

// requireHidden requires that a text has no three characters of a password, unless they could be of something else.
func requireHidden(t *testing.T, password, text, where string) {
	t.Helper()
	for i := range len(password) - 2 {
		part := password[i : i+3]
		letters := strings.Count(strings.Map(func(r rune) rune {
			if strings.ContainsRune(rare, r) {
				return 'Q'
			}
			return ' '
		}, part), "Q")
		if letters >= 2 {
			require.NotContains(t, text, part, "%s with the password %q", where, password)
		}
	}
}

// encoded returns a password as it must be written in a URL.
func encoded(password string) string {
	var b strings.Builder
	for i := range len(password) {
		if strings.IndexByte(rare, password[i]) >= 0 {
			b.WriteByte(password[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", password[i])
		}
	}
	return b.String()
}

// connectionError returns a text with all that the driver shows in errors of connections to a URL that it accepts.
func connectionError(text string) (config *pgconn.Config, shown string, accepted bool) {
	config, err := pgconn.ParseConfig(text)
	if err != nil {
		return nil, "", false
	}
	hosts := []string{config.Host}
	for _, other := range config.Fallbacks {
		hosts = append(hosts, other.Host)
	}
	return config, fmt.Sprintf("failed to connect to `user=%s database=%s`: lookup %s port %d: no such host, parameters %v",
		config.User, config.Database, strings.Join(hosts, " lookup "), config.Port, config.RuntimeParams), true
}

// addresses are URLs with a place for a password, and one form that is no URL.
var addresses = []string{
	"postgresql://user:%s@db.example:5432/plaza?sslmode=disable",
	"postgres://user:%s@db.example/plaza",
	"postgresql://:%s@db.example,other.example/",
	"postgres://user:%s@[::1]:5432",
	"postgresql://db.example:5432/plaza?user=user&password=%s&sslmode=disable",
	"postgresql://db.example?password=%s",
	"postgresql://user@db.example/plaza?sslmode=disable&sslpassword=%s",
	"host=db.example user=user password=%s sslmode=disable",
}

// FuzzPasswords checks that no part of a password is shown, whether it is percent-encoded or not, and that a URL with a percent-encoded
// one is accepted.
func FuzzPasswords(f *testing.F) {
	for c := range rune(128) {
		if strings.ContainsRune("09azAZ", c) || c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a' || c > 'z' {
			one := string(c)
			f.Add("abc" + one + "def")
			f.Add("ab" + one + "cd" + one + "efg")
			f.Add(one + "abcd" + one)
		}
	}
	for _, seed := range []string{
		"p@ss#1", "abc/de?fg=hi", "abc/de?fg=hi@jk", "abc@de/fg", "abc/1234@def", "abc:1234/def", "abc%41def", "abc&user=def", "abc&defg=h",
		"[abc]def", "abc@[def]", "abc,def@ghi", "'abc' def", `abc\'def`, "abc://def@ghi", "abc?password=def#ghi", "$abc{def}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		password := rarePassword(text)
		if len(password) < 3 || !strings.ContainsAny(password, rare) {
			return
		}
		for _, address := range addresses {
			requireNothingShown(t, password, fmt.Sprintf(address, password))
			if strings.ContainsRune(password, 0) || strings.HasPrefix(address, "host=") {
				continue
			}
			u := requireNothingShown(t, password, fmt.Sprintf(address, encoded(password)))
			require.NotEqual(t, dburl.URL{}, u, "a URL with the percent-encoded password %q is accepted", password)
		}
	})
}

// requireNothingShown requires that nothing shows a part of the password of a URL, also if the URL has white space at its ends.
func requireNothingShown(t *testing.T, password, text string) dburl.URL {
	t.Helper()
	u, err := dburl.Parse(" " + text + "\n")
	config, shown, accepted := connectionError(text)
	if err != nil {
		requireHidden(t, password, err.Error(), "error")
		if accepted { // by another version
			var pairs []string
			for _, secret := range dburl.Secrets(text) {
				pairs = append(pairs, secret, "[secret]")
			}
			requireHidden(t, password, strings.NewReplacer(pairs...).Replace(shown), "error of another version")
		}
		return dburl.URL{}
	}
	require.Equal(t, strings.TrimSpace(text), u.Reveal())
	requireHidden(t, password, printed(t, u), "print")
	requireHidden(t, password, printed(t, holder{u}), "print of a field")
	if accepted {
		requireHidden(t, password, shown, "connection error")
		if strings.Contains(text, password+"@") || strings.Contains(text, encoded(password)+"@") {
			require.Equal(t, password, config.Password)
		}
	}
	for _, quoted := range []string{text, password, encoded(password), fmt.Sprintf("%q", password)} {
		requireHidden(t, password, u.Redact("error: "+quoted), "redacted text")
	}
	return u
}
