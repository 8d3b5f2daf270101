package main

import (
	"bytes"
	"debug/elf"
	"errors"
)

// requireStatic rejects binaries that need a dynamic linker, because the image does not contain one.
func requireStatic(program []byte) error {
	file, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return errors.New("not a Linux binary")
	}
	defer file.Close() //nolint:errcheck // the file is in memory
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP {
			return errors.New("the binary needs a dynamic linker: build it with CGO_ENABLED=0")
		}
	}
	return nil
}
