package auth

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/region"
)

// EvacuationFile is the content of a file with the regions that are evacuated to a region:
//
//	{"regions": [{"region": "eu", "serverKeys": [{"id": "k1", "digest": "…", "notAfter": "2027-01-01T00:00:00Z"}]}]}
//
// The file has the SHA-256 of keys instead of the keys, so that these do not leave their region.
type EvacuationFile struct {
	Regions []EvacuatedRegion `json:"regions"`
}

// EvacuatedRegion is a region whose clients and background work another region serves.
type EvacuatedRegion struct {
	Region     string         `json:"region"` // us, eu or sg
	ServerKeys []EvacuatedKey `json:"serverKeys"`
}

// EvacuatedKey is a server key of an evacuated region.
type EvacuatedKey struct {
	ID       string `json:"id"`
	Digest   string `json:"digest"`             // SHA-256 of the key, in hexadecimal
	NotAfter string `json:"notAfter,omitempty"` // in RFC 3339; empty means never
}

// KeyDigest returns the Digest of a key.
func KeyDigest(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// Evacuation is an EvacuationFile that is re-read when it changes. If the file does not exist, no region is evacuated. A nil
// Evacuation has no regions. It is safe for concurrent use.
type Evacuation struct{ file *watchedFile[evacuatedRegion] }

// evacuatedRegion is an entry of the file. Its id is the code of the region.
type evacuatedRegion struct {
	KeyInfo
	code region.Code
	keys []hashedKey
}

func (r evacuatedRegion) material() string { return string(r.code) }

var (
	errRegionTwice = errors.New("the region occurs twice")
	errDigest      = errors.New("the digest must be 64 hexadecimal digits")
)

// OpenEvacuation reads the file in path. An invalid file is an error now; one that becomes invalid later is logged, and the
// previous content stays in use.
func OpenEvacuation(path string, opts ...FileOption) (*Evacuation, error) {
	read := func() ([]byte, error) {
		content, err := readSmallFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return content, err
	}
	f := &watchedFile[evacuatedRegion]{path: path, noun: "evacuated regions", read: read, parse: parseEvacuation}
	return &Evacuation{f}, f.open(opts)
}

// Regions returns the codes of the evacuated regions.
func (e *Evacuation) Regions() []region.Code {
	if e == nil {
		return nil
	}
	var codes []region.Code
	for _, r := range *e.file.get() {
		codes = append(codes, r.code)
	}
	return codes
}

// Check reports whether presented is a valid key of an evacuated region, and returns its id.
func (e *Evacuation) Check(presented string) (id string, ok bool) {
	if e == nil {
		return "", false
	}
	digest := sha256.Sum256([]byte(presented))
	_, ok = e.file.find(func(r evacuatedRegion) bool {
		return slices.ContainsFunc(r.keys, func(k hashedKey) bool {
			if !k.is(digest) || !k.ValidAt(e.file.options.now()) {
				return false
			}
			id = k.ID
			return true
		})
	})
	return id, ok
}

// Status describes the keys of each evacuated region, and the state of the file. A server without a file has neither.
func (e *Evacuation) Status() (map[region.Code][]KeyInfo, FileStatus) {
	if e == nil {
		return nil, FileStatus{}
	}
	status := e.file.Status()
	keys := map[region.Code][]KeyInfo{}
	for _, r := range *e.file.get() {
		keys[r.code] = infosOf(r.keys)
	}
	return keys, status
}

func parseEvacuation(content []byte) ([]evacuatedRegion, error) {
	if len(bytes.TrimSpace(content)) == 0 {
		return nil, nil
	}
	var doc EvacuationFile
	if err := decodeKeyDoc(content, &doc); err != nil {
		return nil, err
	}
	var regions []evacuatedRegion
	for i, entry := range doc.Regions {
		r, err := entry.parse()
		if err == nil && duplicate(regions, r) != nil {
			err = errRegionTwice
		}
		if err != nil {
			return nil, fmt.Errorf("region %d of the file: %w", i+1, err)
		}
		regions = append(regions, r)
	}
	return regions, nil
}

func (r EvacuatedRegion) parse() (evacuatedRegion, error) {
	code, err := region.Parse(r.Region)
	if err != nil {
		return evacuatedRegion{}, err
	}
	parsed := evacuatedRegion{KeyInfo: KeyInfo{ID: r.Region}, code: code}
	for i, entry := range r.ServerKeys {
		key, err := entry.hash()
		if err == nil {
			err = duplicate(parsed.keys, key)
		}
		if err != nil {
			return evacuatedRegion{}, fmt.Errorf("key %d: %w", i+1, err)
		}
		parsed.keys = append(parsed.keys, key)
	}
	return parsed, nil
}

func (k EvacuatedKey) hash() (hashedKey, error) {
	info, err := keyInfo(k.ID, k.NotAfter)
	if err != nil {
		return hashedKey{}, err
	}
	digest, err := hex.DecodeString(k.Digest)
	if err != nil || len(digest) != sha256.Size {
		return hashedKey{}, errDigest
	}
	return hashedKey{KeyInfo: info, digest: [sha256.Size]byte(digest)}, nil
}

// Content returns the file as JSON.
func (f EvacuationFile) Content() []byte {
	content, err := json.Marshal(f)
	if err != nil {
		panic("auth: " + err.Error()) // only strings, which cannot fail
	}
	return content
}

// NewEvacuatedKey returns the entry of a key that is valid until notAfter; zero means for ever.
func NewEvacuatedKey(id, key string, notAfter time.Time) EvacuatedKey {
	entry := EvacuatedKey{ID: id, Digest: KeyDigest(key)}
	if !notAfter.IsZero() {
		entry.NotAfter = notAfter.Format(time.RFC3339Nano)
	}
	return entry
}
