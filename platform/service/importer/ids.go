package importer

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/plaza-social/plaza/platform/region"
)

// idForm describes the ids of objects in a file.
const idForm = "24 lowercase hexadecimal digits, of which the last 22 are not all 0"

// rawID returns the bytes of an id of the form idForm.
func rawID(id string) ([]byte, bool) {
	raw, err := hex.DecodeString(id)
	if err != nil || len(id) != region.IDLength || strings.ToLower(id) != id || strings.Trim(id[2:], "0") == "" {
		return nil, false
	}
	return raw, true
}

// candidates returns the internal ids that the object with an id in a file may have: one at each home, or only the id itself
// if that is one of Plaza. Ids of another form have none.
func candidates(id string) []string {
	raw, ok := rawID(id)
	switch {
	case !ok:
		return nil
	case region.ValidID(id):
		return []string{id}
	}
	var ids []string
	for _, home := range region.All() {
		ids = append(ids, region.DerivedID(home, raw[1:]))
	}
	return ids
}

// idAt returns the internal id at home of an object: its id in the file, with the home as its first byte. It returns an error
// for an id of Plaza that is of another home.
func idAt(home region.Code, id string) (string, error) {
	raw, _ := rawID(id)
	if of, err := region.HomeOf(id); err == nil && of != home {
		return "", fmt.Errorf("id: begins with the digits of the region %s, but the object belongs to %s", of, home)
	}
	return region.DerivedID(home, raw[1:]), nil
}
