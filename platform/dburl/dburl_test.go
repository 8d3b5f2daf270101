package dburl_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/dburl"
)

const password = "hunter2"

// holder contains a URL in a field whose methods fmt does not call.
type holder struct{ url dburl.URL }

func TestPasswordsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	u := dburl.MustParse("postgresql://plaza:" + password + "@db:5432/plaza")
	for name, v := range map[string]any{
		"url": u, "pointer": &u, "field": holder{u}, "slice": []dburl.URL{u}, "map": map[string]dburl.URL{"key": u},
	} {
		t.Run(name, func(t *testing.T) {
			require.NotContains(t, printed(t, v), password)
		})
	}
	require.Equal(t, "postgresql://plaza:"+password+"@db:5432/plaza", u.Reveal())
	require.Empty(t, dburl.URL{}.String())
	require.Empty(t, dburl.URL{}.Reveal())
}

// printed returns a value printed, marshalled and logged in every way.
func printed(t *testing.T, v any) string {
	t.Helper()
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		_, _ = fmt.Fprintf(&out, verb+"\n", v)
	}
	text, err := json.Marshal(v)
	require.NoError(t, err)
	out.Write(text)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("a message", "value", v)
	slog.New(slog.NewTextHandler(&out, nil)).Info("a message", "value", v)
	return out.String()
}

func TestString(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"postgresql://plaza@db/plaza":                                                "postgresql://plaza@db/plaza",
		"\tpostgresql://plaza:pw@db/plaza\n":                                         "postgresql://plaza:redacted@db/plaza",
		"\r\n\tpostgres://plaza:pw@db\r\n":                                           "postgres://plaza:redacted@db",
		"postgresql://db/plaza?password=pw&connect_timeout=5":                        "postgresql://db/plaza?password=redacted&connect_timeout=5",
		"postgresql://db/plaza?sslpassword=pw":                                       "postgresql://db/plaza?sslpassword=redacted",
		"postgresql://db/plaza?pass%77ord=pw":                                        "postgresql://db/plaza?pass%77ord=redacted",
		"postgresql://plaza:p%40ss%231@[::1]:5432,b:1/plaza":                         "postgresql://plaza:redacted@[::1]:5432,b:1/plaza",
		"postgresql://plaza@/plaza?host=/run/postgresql":                             "postgresql://plaza@/plaza?host=/run/postgresql",
		"postgresql://%2Frun%2Fpostgresql/plaza":                                     "postgresql://%2Frun%2Fpostgresql/plaza",
		"postgresql://plaza:a:b!$^&*()=[]{}|;'\",<>\\`~_-.+@db/plaza?lock_timeout=1": "postgresql://plaza:redacted@db/plaza?lock_timeout=1",
	} {
		u, err := dburl.Parse(in)
		require.NoError(t, err, in)
		require.Equal(t, want, u.String(), in)
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	const place = "the database URL has an @, /, ? or # in an unexpected place: a user name or password that contains one must be " +
		"percent-encoded, as %40, %2F, %3F or %23"
	const space = "the database URL contains white space or a control character: a user name or password that contains it must be " +
		"percent-encoded, such as a space as %20"
	const percent = "the database URL contains a % that is not followed by two hexadecimal digits, or %00: a user name or password that " +
		"contains a % must be percent-encoded, as %25"
	const host = "the database URL has a host that is neither a name nor an address: it must be like " +
		"postgresql://user:password@host:5432/database"
	const port = "the database URL has a port that is not a number from 1 to 65535: a user name and a password must be followed by @ and " +
		"the host"
	const pair = "the database URL has a parameter that is not like name=value: a value that contains & or = must be percent-encoded, as " +
		"%26 or %3D"
	const unknown = "the database URL has a password among its parameters and a parameter with an unknown name: a password that contains " +
		"& must be percent-encoded, as %26"
	for in, want := range map[string]string{
		" \n":                                       "the database URL is empty: it must be like postgresql://user:password@host:5432/database",
		"host=db password=hunter2":                  "the database URL must begin with postgresql:// or postgres://",
		"plaza:hunter2@db/plaza":                    "the database URL must begin with postgresql:// or postgres://",
		"mysql://plaza:hunter2@db/plaza":            "the database URL must begin with postgresql:// or postgres://",
		"postgres://plaza:p@ss#1@db/plaza":          place,
		"postgres://plaza:p@ss@db/plaza":            place,
		"postgres://plaza:pass#1@db/plaza":          place,
		"postgres://plaza:1/2@db/plaza":             place,
		"postgres://plaza:1?2@db/plaza":             place,
		"postgres://db?password=p@ss":               place,
		"postgres://db/plaza?password=p#s":          place,
		"postgres://plaza:hunter2@db/plaza?a=b@c":   place,
		"postgres://plaza:hun ter2@db/plaza":        space,
		"postgres://plaza:hun\nter2@db/plaza":       space,
		"postgres://plaza:hunter2%@db/plaza":        percent,
		"postgres://plaza:hunter%2@db/plaza":        percent,
		"postgres://plaza:hunter%00@db/plaza":       percent,
		"postgres://plaza:hunter2@d_b!/plaza":       host,
		"postgres://plaza:hunter2@[db]/plaza":       host,
		"postgres://plaza:hunter2@[::1/plaza":       host,
		"postgres://plaza:hunter2":                  port,
		"postgres://plaza:hunter2@db:0/plaza":       port,
		"postgres://plaza:hunter2@db:65536/plaza":   port,
		"postgres://plaza:hunter2@[::1]:x/plaza":    port,
		"postgres://db/plaza?password=a&b":          pair,
		"postgres://db/plaza?password=a=b":          pair,
		"postgres://db/plaza?password=a&-b=c":       pair,
		"postgres://db/plaza?password=hunter&ter2=": unknown,
	} {
		_, err := dburl.Parse(in)
		require.EqualError(t, err, want, in)
		var u dburl.URL
		if in != " \n" {
			require.EqualError(t, u.UnmarshalText([]byte(in)), want, in)
		}
		require.Equal(t, dburl.URL{}, u)
	}
	u := dburl.MustParse("postgres://db/plaza")
	require.NoError(t, u.UnmarshalText([]byte(" \n")))
	require.Equal(t, dburl.URL{}, u, "it is not set")
	require.Panics(t, func() { dburl.MustParse("db") })
}

func TestRedact(t *testing.T) {
	t.Parallel()
	u := dburl.MustParse("postgresql://plaza:hunter%2F2@db/plaza?password=sword%26fish")
	text := u.Redact("at " + u.Reveal() + ": hunter/2, hunter%2F2, sword%26fish, " + `sword\u0026fish` + " and sword&fish are wrong at eu")
	require.Equal(t,
		"at postgresql://plaza:redacted@db/plaza?password=redacted: [redacted], [redacted], [redacted], [redacted] and [redacted] are wrong "+
			"at eu", text)
	within := dburl.MustParse("postgresql://plaza:hunter%25@db/plaza") // one form of the password is the beginning of another
	require.Equal(t, "[redacted], [redacted]", within.Redact("hunter%, hunter%25"))
	plain := dburl.MustParse("postgresql://plaza@db/plaza")
	require.Equal(t, "any text", plain.Redact("any text"))
	require.False(t, plain.HasPassword())
	require.True(t, u.HasPassword())
}

func TestClean(t *testing.T) {
	t.Parallel()
	u := dburl.MustParse("postgresql://plaza:hunter2@db/plaza")
	cause := errors.New("refused")
	require.NoError(t, u.Clean(nil))
	require.Equal(t, cause, u.Clean(cause))
	err := u.Clean(fmt.Errorf("%s: %w", u.Reveal(), cause))
	require.EqualError(t, err, "postgresql://plaza:redacted@db/plaza: refused")
	require.ErrorIs(t, err, cause)
}
