package keyring

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"maps"
	"regexp"
	"strings"
)

// The names of the sets of keys of a network, by which the recovery Secret and backups have them. That of the server keys of a region
// ends with its code.
const (
	IdentitySet    = "identity"
	SigningKeysSet = "signing-keys"
	APIKeysSet     = "api-keys"
	ServerKeysSet  = "server-keys-"
)

// Annotations of the Secret with the identity of a network.
const (
	// AnnotationKeySets has the names of the sets of keys that were created for the network, separated by spaces. A set that it names
	// and that does not exist was lost.
	AnnotationKeySets = "plaza.social/key-sets"
	// AnnotationGivenUp has the names of the lost sets that were replaced at the present request to give keys up.
	AnnotationGivenUp = "plaza.social/given-up-key-sets"
	// AnnotationAccepted is true if the database of the network has accepted the identity. It is not saved: the database is asked again
	// about a restored identity.
	AnnotationAccepted = "plaza.social/identity-accepted"
	// AnnotationNetworkID, of every Secret with keys, is the id of the network to which they belong.
	AnnotationNetworkID = "plaza.social/network-id"
)

// Saved is the content of a Secret with keys, as the recovery Secret of its network and backups have it.
type Saved struct {
	// Files are the files of the Secret by name.
	Files map[string]Secret
	// Annotations are those with the states of the keys.
	Annotations map[string]string
	// Cluster is the name of the cluster from which the recovery Secret has the keys; "" is the operator's own, and nil one that is not
	// known. Backups do not have it.
	Cluster *string
}

type wireSaved struct {
	Files       map[string]string `json:"files"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Cluster     *string           `json:"cluster,omitempty"`
}

// Save returns the content of a Secret. It leaves out annotations of others.
func Save(files map[string][]byte, annotations map[string]string) Saved {
	s := Saved{Files: map[string]Secret{}, Annotations: map[string]string{}}
	for name, content := range files {
		s.Files[name] = NewSecret(string(content))
	}
	for _, name := range append(Annotations(), AnnotationKeySets, AnnotationGivenUp) {
		if value, found := annotations[name]; found {
			s.Annotations[name] = value
		}
	}
	return s
}

// ParseSaved parses the result of Encode. The error is a *BrokenError.
func ParseSaved(text Secret) (Saved, error) {
	var wire wireSaved
	if err := decode(text, &wire); err != nil {
		return Saved{}, err
	}
	return wire.saved(), nil
}

func (w wireSaved) saved() Saved {
	files := map[string][]byte{}
	for name, content := range w.Files {
		files[name] = []byte(content)
	}
	s := Save(files, w.Annotations)
	s.Cluster = w.Cluster
	return s
}

// Encode returns s as JSON.
func (s Saved) Encode() Secret {
	return encode(s.wire())
}

func (s Saved) wire() wireSaved {
	wire := wireSaved{Files: map[string]string{}, Annotations: maps.Clone(s.Annotations), Cluster: s.Cluster}
	for name, content := range s.Files {
		wire.Files[name] = content.Reveal()
	}
	return wire
}

// Identity returns the identity that a set of keys has.
func (s Saved) Identity() Identity {
	return Identity{DirectoryKey: s.Files[DirectoryKeyFile], NetworkID: s.Files[NetworkIDFile].Reveal()}
}

var (
	fileName   = regexp.MustCompile(`^[-._a-zA-Z0-9]{1,253}$`)
	regionCode = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
)

// Check validates the keys of a set: servers could use them.
func (s Saved) Check(set string) error {
	for name := range s.Files {
		if !fileName.MatchString(name) {
			return &BrokenError{Reason: "a file has a name that a Secret cannot have"}
		}
	}
	code, isOfRegion := strings.CutPrefix(set, ServerKeysSet)
	switch {
	case set == IdentitySet:
		return s.Identity().Check()
	case set == SigningKeysSet:
		return checkFile(SigningKeys, s.Files[SigningKeysFile])
	case set == APIKeysSet:
		return checkFile(APIKeys, s.Files[APIKeysFile])
	case isOfRegion && regionCode.MatchString(code):
		return checkFile(Kind{}, s.Files[ServerKeysFile])
	}
	return errors.New("no set of keys has this name in this version")
}

func checkFile(kind Kind, content Secret) error {
	if strings.TrimSpace(content.Reveal()) == "" {
		return &BrokenError{Reason: "it is missing or empty"}
	}
	file, err := kind.parse(content)
	if err != nil {
		return err
	}
	if len(file) == 0 {
		return &BrokenError{Reason: "it has no keys"}
	}
	for i, entry := range file {
		if kind.noun != SigningKeys.noun {
			break
		}
		if seed, err := base64.StdEncoding.DecodeString(entry.Key.Reveal()); err != nil || len(seed) != ed25519.SeedSize {
			return &BrokenError{Entry: i + 1, Reason: "the seed is not the base64 of 32 bytes"}
		}
	}
	return nil
}
