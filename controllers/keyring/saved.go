package keyring

import "maps"

// Annotations of the Secret with the identity of a network.
const (
	// AnnotationKeySets has the names of the sets of keys that were created for the network, separated by spaces. A set that it names
	// and that does not exist was lost.
	AnnotationKeySets = "plaza.social/key-sets"
	// AnnotationGivenUp has the names of the lost sets that were replaced at the present request to give keys up.
	AnnotationGivenUp = "plaza.social/given-up-key-sets"
	// AnnotationNetworkID, of every Secret with keys, is the id of the network to which they belong.
	AnnotationNetworkID = "plaza.social/network-id"
)

// Saved is the content of a Secret with keys, as the recovery Secret of its network and backups have it.
type Saved struct {
	// Files are the files of the Secret by name.
	Files map[string]Secret
	// Annotations are those with the states of the keys.
	Annotations map[string]string
}

type wireSaved struct {
	Files       map[string]string `json:"files"`
	Annotations map[string]string `json:"annotations,omitempty"`
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
	files := map[string][]byte{}
	for name, content := range wire.Files {
		files[name] = []byte(content)
	}
	return Save(files, wire.Annotations), nil
}

// Encode returns s as JSON.
func (s Saved) Encode() Secret {
	wire := wireSaved{Files: map[string]string{}, Annotations: maps.Clone(s.Annotations)}
	for name, content := range s.Files {
		wire.Files[name] = content.Reveal()
	}
	return encode(wire)
}
