package app

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"
)

// programPart is a part of the program's file in the memory of the process.
type programPart struct {
	start, end uintptr
	isReadOnly bool
	isModified bool // whether some pages differ from the file
}

// programParts returns the parts of the file called program that a process has in its memory, given its /proc/self/smaps.
func programParts(smaps []byte, program string) []programPart {
	var parts []programPart
	var within bool
	for lines := bufio.NewScanner(bytes.NewReader(smaps)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) < 2:
		case !strings.HasSuffix(fields[0], ":"): // the first line of a part: its addresses, permissions, offset, device, inode and file
			var part programPart
			if part, within = newProgramPart(fields, program); within {
				parts = append(parts, part)
			}
		case within && fields[0] == "Anonymous:":
			parts[len(parts)-1].isModified = fields[1] != "0"
		}
	}
	return parts
}

// newProgramPart returns the part whose first line has some fields; false if it is not of the program.
func newProgramPart(fields []string, program string) (p programPart, ok bool) {
	from, to, ok := strings.Cut(fields[0], "-")
	if !ok || len(fields) < 6 || fields[5] != program || len(fields) > 6 {
		return p, false
	}
	start, err := strconv.ParseUint(from, 16, 64)
	if err != nil {
		return p, false
	}
	end, err := strconv.ParseUint(to, 16, 64)
	return programPart{start: uintptr(start), end: uintptr(end), isReadOnly: !strings.Contains(fields[1], "w")}, err == nil
}

// releaseProgram removes the pages of the program's file that the process has read so far from its memory. Half of the
// resident memory of a server that has started are such pages, of which most are not used again. Those that are used are
// read again, from the page cache. Pages that can be written, or were before, are kept, because the file does not contain
// what they contain.
func releaseProgram() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return // an operating system without it
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, p := range programParts(smaps, program) {
		if p.isReadOnly && !p.isModified {
			release(p)
		}
	}
}
