package main

import (
	"bytes"
	"debug/elf"
	"errors"
)

// requireStatic refuses a binary that needs a dynamic linker: an image with nothing else in it has none.
func requireStatic(program []byte) error {
	file, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return errors.New("not a Linux binary")
	}
	defer file.Close() //nolint:errcheck // nothing is open: the file is in memory
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP {
			return errors.New("needs a dynamic linker: build it with CGO_ENABLED=0")
		}
	}
	return nil
}
