package keyring

import (
	"cmp"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"io"
	"slices"
	"time"
)

// Kind is a kind of rotated keys. The zero Kind is that of server keys.
type Kind struct {
	noun, prefix string
	key          func(io.Reader) (Secret, error)
}

// The kinds of keys that all regions share. They are rotated like server keys, but only on request or if the spec sets an interval.
var (
	APIKeys     = Kind{"API key", "a-", newKey}
	SigningKeys = Kind{"signing key", "s-", newSeed}
)

func (k Kind) String() string { return cmp.Or(k.noun, "server key") }

func (k Kind) newKey(random io.Reader) (Secret, error) {
	if k.key == nil {
		return newKey(random)
	}
	return k.key(random)
}

// file returns a file with one key, whose id has n random bytes.
func (k Kind) file(random io.Reader, n int) (Secret, error) {
	id, err := draw(random, n)
	if err != nil {
		return Secret{}, err
	}
	key, err := k.newKey(random)
	if err != nil {
		return Secret{}, err
	}
	return k.content(File{{ID: k.prefix + hex.EncodeToString(id), Key: key}}, ""), nil
}

func newSeed(random io.Reader) (Secret, error) {
	seed, err := draw(random, ed25519.SeedSize)
	if err != nil {
		return Secret{}, err
	}
	return NewSecret(base64.StdEncoding.EncodeToString(seed)), nil
}

// never is the interval of keys that are rotated on request only.
const never = 100 * 365 * 24 * time.Hour

// StepShared computes the next state of keys of a kind that all regions share. A RotateEvery of 0 means never. Keys without
// annotations, which were never rotated, are in use: their first key without notAfter is the active one.
func StepShared(in Input) (Result, error) {
	if in.RotateEvery == 0 {
		in.RotateEvery = never
	}
	original := in.Content
	file, err := in.Kind.parse(original)
	if err != nil {
		return Result{}, err
	}
	in.Content = file.Content()
	if in.Annotations[AnnotationActive] == "" && in.Annotations[AnnotationPending] == "" {
		for _, entry := range file {
			if entry.NotAfter.IsZero() {
				in.Annotations = map[string]string{AnnotationActive: entry.ID}
				break
			}
		}
	}
	result, err := Step(in)
	if err != nil {
		return Result{}, err
	}
	file, err = ParseFile(result.Content)
	if err != nil {
		return Result{}, err
	}
	result.Content = original
	if result.Changed {
		result.Content = in.Kind.content(file, result.Annotations[AnnotationActive])
	}
	return result, nil
}

// CandidateShared is Candidate for the keys of StepShared: found is false if no key waits for the servers.
func CandidateShared(kind Kind, content Secret, annotations map[string]string) (id string, found bool, err error) {
	file, err := kind.parse(content)
	if err != nil {
		return "", false, err
	}
	key, _, err := Candidate(file.Content(), annotations)
	return key.ID, key.ID != "" && key.ID == annotations[AnnotationPending], err
}

// wireSigningFile is a signing-keys.json. Its keys are those of wireFile with other names.
type wireSigningFile struct {
	Keys []wireSigningKey `json:"keys"`
}

type wireSigningKey struct {
	ID       string `json:"kid"`
	Key      string `json:"seed"`
	NotAfter string `json:"notAfter,omitempty"`
}

// parse parses a file of the kind.
func (k Kind) parse(content Secret) (File, error) {
	if k.noun != SigningKeys.noun {
		return ParseFile(content)
	}
	var doc wireSigningFile
	if err := decode(content, &doc); err != nil {
		return nil, err
	}
	var same wireFile
	for _, key := range doc.Keys {
		same.Keys = append(same.Keys, wireEntry(key))
	}
	return ParseFile(encode(same))
}

// content returns a file of the kind. Servers sign with the first valid signing key, so that the active one is the first.
func (k Kind) content(file File, active string) Secret {
	if k.noun != SigningKeys.noun {
		return file.Content()
	}
	slices.SortStableFunc(file, func(a, b Entry) int { return cmp.Compare(rank(a, active), rank(b, active)) })
	var doc wireSigningFile
	for _, entry := range file {
		doc.Keys = append(doc.Keys, wireSigningKey(entry.wire()))
	}
	return encode(doc)
}

func rank(entry Entry, active string) int {
	if entry.ID == active {
		return 0
	}
	return 1
}
