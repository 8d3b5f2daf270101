package dburl

import (
	"errors"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// The reasons for which a text is not a database URL. They are the same for every text, so that they quote no part of a password.
var (
	errEmpty  = errors.New("the database URL is empty: it must be like postgresql://user:password@host:5432/database")
	errScheme = errors.New("the database URL must begin with postgresql:// or postgres://")
	errSpace  = errors.New("the database URL contains white space or a control character: a user name or password that contains it must " +
		"be percent-encoded, such as a space as %20")
	errPercent = errors.New("the database URL contains a % that is not followed by two hexadecimal digits, or %00: a user name or " +
		"password that contains a % must be percent-encoded, as %25")
	errPlace = errors.New("the database URL has an @, /, ? or # in an unexpected place: a user name or password that contains one must " +
		"be percent-encoded, as %40, %2F, %3F or %23")
	errHost = errors.New("the database URL has a host that is neither a name nor an address: it must be like " +
		"postgresql://user:password@host:5432/database")
	errPort = errors.New("the database URL has a port that is not a number from 1 to 65535: a user name and a password must be " +
		"followed by @ and the host")
	errPair = errors.New("the database URL has a parameter that is not like name=value: a value that contains & or = must be " +
		"percent-encoded, as %26 or %3D")
	errUnknown = errors.New("the database URL has a password among its parameters and a parameter with an unknown name: a password that " +
		"contains & must be percent-encoded, as %26")
)

// parts are the parts of a database URL as they are written.
type parts struct {
	scheme   string // with ://
	user     string
	password string
	// hasUser and hasPassword report whether there is an @ and, before it, a colon.
	hasUser, hasPassword bool
	middle               string // the hosts, and the name of the database with a slash before it
	parameters           []parameter
}

// parameter is a part name=value of the query.
type parameter struct {
	name, value string
	secret      bool
}

// split returns the parts of a text, or why it is not a database URL.
//
// The driver reads such a text as follows. What is before the first @ is the user and, after the first colon, the password. What
// follows up to the next slash or question mark are the hosts. If there is a slash before the first @, there is no user. An @ in
// a password would so be the end of it, and a slash the end of the hosts. That a text has at most one @, with neither
// a slash nor a question mark before it, rules out both. Where other programs end a URL, at a #, the driver does not.
func split(text string) (parts, error) {
	p := parts{}
	rest := text
	for _, scheme := range []string{"postgresql://", "postgres://"} {
		if after, ok := strings.CutPrefix(text, scheme); ok {
			p.scheme, rest = scheme, after
		}
	}
	at := strings.LastIndexByte(rest, '@')
	switch {
	case text == "":
		return p, errEmpty
	case p.scheme == "":
		return p, errScheme
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return p, errSpace
	case at >= 0 && strings.ContainsAny(rest[:at], "@/?"), strings.ContainsRune(rest, '#'):
		return p, errPlace
	}
	if _, err := decode(rest); err != nil {
		return p, err
	}
	if at >= 0 {
		p.hasUser = true
		p.user, p.password, p.hasPassword = strings.Cut(rest[:at], ":")
	}
	var query string
	p.middle, query, _ = strings.Cut(rest[at+1:], "?")
	if err := checkHosts(p.middle); err != nil {
		return p, err
	}
	var err error
	p.parameters, err = parametersOf(query)
	return p, err
}

// shown returns the URL without its passwords.
func (p parts) shown() string {
	var b strings.Builder
	b.WriteString(p.scheme)
	if p.hasUser {
		b.WriteString(p.user)
		if p.hasPassword {
			b.WriteString(":" + hidden)
		}
		b.WriteString("@")
	}
	b.WriteString(p.middle)
	for i, one := range p.parameters {
		value := one.value
		if one.secret {
			value = hidden
		}
		b.WriteString(map[bool]string{true: "?", false: "&"}[i == 0] + one.name + "=" + value)
	}
	return b.String()
}

// passwords returns the passwords as they are written.
func (p parts) passwords() []string {
	var passwords []string
	if p.password != "" {
		passwords = append(passwords, p.password)
	}
	for _, one := range p.parameters {
		if one.secret && one.value != "" {
			passwords = append(passwords, one.value)
		}
	}
	return passwords
}

// hostName matches the name or the address of a host, or the percent-encoded folder of a socket, and "", the driver's default.
var hostName = regexp.MustCompile(`^([A-Za-z0-9._~-]|%[0-9A-Fa-f]{2})*$`)

// checkHosts checks hosts, separated by commas, with or without ports, up to the slash before the name of the database.
func checkHosts(middle string) error {
	hosts, _, _ := strings.Cut(middle, "/")
	for host := range strings.SplitSeq(hosts, ",") {
		name, port, _ := strings.Cut(host, ":")
		if strings.HasPrefix(host, "[") {
			address, after, closed := strings.Cut(host[1:], "]")
			zone := strings.ReplaceAll(address, "%25", "%")
			if _, err := netip.ParseAddr(zone); err != nil || !closed || after != "" && after[0] != ':' {
				return errHost
			}
			name, port = "", strings.TrimPrefix(after, ":")
		}
		if !hostName.MatchString(name) {
			return errHost
		}
		if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n == 0) {
			return errPort
		}
	}
	return nil
}

// parameterName matches the name of a parameter of the driver or of the database.
var parameterName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)

// knownParameters are the names that are allowed together with a password. A setting of the database could as well be the end of a password
// that contains an ampersand, and the database quotes the names of settings that it does not know.
var knownParameters = []string{
	"application_name", "channel_binding", "client_encoding", "connect_timeout", "database", "dbname", "default_query_exec_mode",
	"fallback_application_name",
	"gssencmode", "host", "hostaddr", "keepalives", "krbspn", "krbsrvname", "max_protocol_version", "min_protocol_version", "options",
	"passfile", "password",
	"pool_max_conns", "port", "require_auth", "search_path", "service", "servicefile", "ssl", "sslcert", "sslcertmode", "sslkey", "sslmode",
	"sslnegotiation", "sslpassword",
	"sslrootcert", "sslsni", "statement_timeout", "target_session_attrs", "timezone", "user",
}

func parametersOf(query string) ([]parameter, error) {
	if query == "" {
		return nil, nil
	}
	var found []parameter
	known, secret := true, false
	for pair := range strings.SplitSeq(query, "&") {
		name, value, isPair := strings.Cut(pair, "=")
		decoded, err := decode(name)
		if err != nil || !isPair || strings.Contains(value, "=") || !parameterName.MatchString(decoded) {
			return nil, errPair
		}
		one := parameter{name: name, value: value, secret: strings.Contains(strings.ToLower(decoded), "password")}
		known = known && slices.Contains(knownParameters, strings.ToLower(decoded))
		secret = secret || one.secret
		found = append(found, one)
	}
	if secret && !known {
		return nil, errUnknown
	}
	return found, nil
}

// decode returns a percent-decoded text. Other than in forms, + is a plus sign.
func decode(text string) (string, error) {
	decoded, err := url.PathUnescape(text)
	if err != nil || strings.ContainsRune(decoded, 0) {
		return "", errPercent
	}
	return decoded, nil
}
