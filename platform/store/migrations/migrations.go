// Package migrations holds the steps of the database's schema. It knows nothing about databases, so that programs that
// only need to know which schema they stand for, such as the operator, can import it.
package migrations

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"strconv"
	"strings"
)

// Files are the steps: NNNNN_what.sql, each a table with its indexes, or one statement. Those up to 01084 are the baseline, in which
// each table is written once; a change of it is a new step. The numbers before 01001 were those of development versions.
//
//go:embed *.sql
var Files embed.FS

// Names returns the names of the steps in order.
func Names() []string {
	entries, err := fs.ReadDir(Files, ".")
	if err != nil {
		panic(err) // the files are embedded: a broken one is a broken program
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// Target is the schema version that this program needs: the number of the last step.
func Target() int64 {
	names := Names()
	number, _, _ := strings.Cut(names[len(names)-1], "_")
	version, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		panic(err)
	}
	return version
}

// Hash returns a digest of all steps, which differs between programs with different steps.
func Hash() string {
	digest := sha256.New()
	for _, name := range Names() {
		step, err := Files.ReadFile(name)
		if err != nil {
			panic(err) // as in Names
		}
		digest.Write([]byte(name + "\n"))
		digest.Write(step)
	}
	return hex.EncodeToString(digest.Sum(nil))
}
