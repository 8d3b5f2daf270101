package textfilter

import (
	"net/netip"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
)

// Link is a link found in a text.
type Link struct {
	// Host is the host of the link: in lower case, international names in Punycode (xn--), without user, port and
	// trailing dot. It is empty if it cannot be determined with certainty; then no rule allows the link.
	Host string
	// Path is the path after its first slash, unescaped, with `.` and `..` resolved and without query and fragment.
	Path string
}

// Links returns the links in text, in order. The following are links:
//
//   - scheme://…   of any scheme, up to the next space or angle bracket, without trailing punctuation; also inside
//     another link, as in https://allowed.example/?to=https://evil.example
//   - www.…        followed by a name
//   - a bare name  whose last label is a top-level domain of the public suffix list or one reserved for tests and
//     private networks, with or without a path: evil.com, EVIL.COM/x, пример.рф, but not `file.txt` or `3.14`
//   - an IPv4 address with a port or a path: 192.0.2.1/x
//
// An e-mail address is not a link unless a path or port follows it. In case of doubt a text is a link, because
// rejecting a harmless text is preferable to accepting a forbidden link, and its author can insert a space.
func Links(text string) []Link {
	text = visible(text)
	links, rest := absolute(text)
	return append(links, bare(rest)...)
}

// schemes finds the beginnings of absolute links. Browsers treat a backslash as a slash.
var schemes = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.\-]*:[/\\]{2}`)

// absolute returns the links that begin with a scheme, and text with them replaced by spaces.
func absolute(text string) (links []Link, rest string) {
	if !strings.Contains(text, "//") && !strings.Contains(text, `\\`) && !strings.Contains(text, `/\`) && !strings.Contains(text, `\/`) {
		return nil, text
	}
	masked, done := []byte(text), 0
	for _, at := range schemes.FindAllStringIndex(text, -1) {
		run := upToSpace(text[at[1]:min(len(text), at[1]+maxLink+1)])
		if strings.ContainsFunc(run, func(r rune) bool { return !isPunctuation(r) }) {
			links = append(links, linkOf(run))
		}
		// Text after a separator may be read as a separate name.
		if end := strings.IndexAny(run, separators); end >= 0 {
			run = run[:end]
		}
		from := at[0]
		if strings.Contains(text[at[0]:at[1]], ".") { // the scheme may itself be read as a name
			from = at[1] - len("://")
		}
		for i := max(from, done); i < at[1]+len(run); i++ {
			masked[i] = ' '
			done = i
		}
	}
	return links, string(masked)
}

// maxLink is the maximum length in bytes of a link whose host is determined.
const maxLink = 4096

const separators = ",;|\"'`"

func endsLink(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || r == '<' || r == '>' || r == utf8.RuneError
}

func isPunctuation(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// linkOf parses the text after the slashes of a scheme, or a bare name and what follows it.
func linkOf(run string) Link {
	if len(run) > maxLink {
		return Link{}
	}
	run = strings.TrimLeft(run, `/\`) // as browsers do
	run = strings.TrimRightFunc(run, func(r rune) bool { return r != '/' && isPunctuation(r) })
	authority, rest := run, ""
	if end := strings.IndexAny(run, `/\?#`); end >= 0 {
		authority, rest = run[:end], run[end:]
	}
	return Link{Host: hostOf(authority), Path: pathOf(rest)}
}

// ParseLink parses the text of a field that consists of one link.
func ParseLink(address string) Link {
	address = visible(strings.TrimSpace(address))
	if at := schemes.FindStringIndex(address); len(at) > 0 && at[0] == 0 {
		address = address[at[1]:]
	}
	return linkOf(address)
}

// names finds candidates for names: at least two labels.
var (
	names     = regexp.MustCompile(name)
	nameFirst = regexp.MustCompile(`^` + name)
)

const name = `[\p{L}\p{N}_][\p{L}\p{N}\p{M}_\-]*(?:[.．][\p{L}\p{N}_][\p{L}\p{N}\p{M}_\-]*)+`

// bare returns the links without a scheme.
func bare(text string) []Link {
	if !strings.ContainsAny(text, ".．") {
		return nil
	}
	var links []Link
	for _, at := range names.FindAllStringIndex(text, -1) {
		before, name, after := text[:at[0]], text[at[0]:at[1]], text[at[1]:]
		if isMailbox(before, after) {
			continue
		}
		if host := hostIn(name, continues(after)); host != "" {
			if host == name && continues(after) {
				host += upToSpace(after[:min(len(after), maxLink)])
			}
			links = append(links, linkOf(host))
		}
	}
	return links
}

func upToSpace(s string) string {
	if end := strings.IndexFunc(s, endsLink); end >= 0 {
		return s[:end]
	}
	return s
}

// continues reports whether a port or a path follows a name.
func continues(after string) bool {
	if after == "" {
		return false
	}
	return after[0] == '/' || after[0] == '\\' || (after[0] == ':' && len(after) > 1 && after[1] >= '0' && after[1] <= '9')
}

// isMailbox reports whether a name is part of an e-mail address, judging by the text before and after it.
func isMailbox(before, after string) bool {
	if rest, ok := strings.CutPrefix(after, "@"); ok {
		return nameFirst.MatchString(rest)
	}
	user, ok := strings.CutSuffix(before, "@")
	if !ok || user == "" || continues(after) || isAfterSlashes(user) {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(user)
	return unicode.IsLetter(last) || unicode.IsDigit(last) || strings.ContainsRune("._%+-", last)
}

// maxUser is the maximum length in bytes of the local part of an e-mail address.
const maxUser = 256

// isAfterSlashes reports whether two slashes precede user: then it belongs to a URL without a scheme, not to an e-mail
// address.
func isAfterSlashes(user string) bool {
	near := user[max(0, len(user)-maxUser):]
	at := strings.LastIndexFunc(near, func(r rune) bool { return unicode.IsSpace(r) || isSlash(r) })
	if at < 0 {
		return len(near) < len(user)
	}
	return at > 0 && isSlash(rune(near[at])) && isSlash(rune(near[at-1]))
}

func isSlash(r rune) bool { return r == '/' || r == '\\' }

// hostIn returns the part of name that is a host: all of it, or the part before labels that do not belong to it, as in
// "evil.com.Then"; "" if there is none.
func hostIn(name string, hasMore bool) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '．' })
	if strings.EqualFold(parts[0], "www") {
		return name
	}
	if address, err := netip.ParseAddr(name); err == nil {
		if hasMore && address.Is4() {
			return name
		}
		return ""
	}
	for last := len(parts) - 1; last > 0; last-- {
		if isTopLevel(parts[last]) {
			if last == len(parts)-1 {
				return name
			}
			return strings.Join(parts[:last+1], ".")
		}
		if top := wordStart(parts[last]); top != parts[last] && isTopLevel(top) {
			return strings.Join(append(parts[:last:last], top), ".")
		}
	}
	return ""
}

// wordStart returns the part of a label before which another word may begin: a hyphen or letters of another script.
func wordStart(part string) string {
	end := strings.IndexFunc(part, func(r rune) bool { return r > unicode.MaxASCII || r == '-' || r == '_' })
	if end < 0 {
		return part
	}
	return part[:end]
}

// reserved are top-level domains that are never registered but resolve in private networks.
var reserved = map[string]bool{"example": true, "test": true, "local": true, "internal": true, "onion": true}

// isTopLevel reports whether a label is a top-level domain.
func isTopLevel(part string) bool {
	ascii := hostOf(part)
	if ascii == "" || strings.Trim(ascii, "0123456789") == "" {
		return false
	}
	if reserved[ascii] {
		return true
	}
	_, icann := publicsuffix.PublicSuffix("a.b." + ascii)
	return icann
}
