package app

import (
	"crypto/sha256"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const smapsOfProgram = `00400000-024f8000 r-xp 00000000 fe:00 10821896                           /bin/plaza
Size:              34784 kB
Rss:               26020 kB
Private_Dirty:         0 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
024f8000-04d11000 r--p 020f8000 fe:00 10821896                           /bin/plaza
Rss:               28192 kB
Private_Dirty:         8 kB
Anonymous:             8 kB
04d11000-04fd6000 rw-p 04911000 fe:00 10821896                           /bin/plaza
Rss:                1236 kB
Private_Dirty:         0 kB
05000000-06000000 r--p 00000000 fe:00 10821896                           /bin/plaza (deleted)
938d5800000-938da400000 rw-p 00000000 00:00 0
Private_Dirty:     55824 kB
7ff2c24ab000-7ff2c2601000 r-xp 00026000 fe:00 326269                     /usr/lib/x86_64-linux-gnu/libc.so.6
Anonymous:             4 kB
`

// TestProgramParts finds the parts of a program's file, and what was modified in them.
func TestProgramParts(t *testing.T) {
	t.Parallel()
	require.Equal(t, []programPart{
		{start: 0x400000, end: 0x24f8000, isReadOnly: true},
		{start: 0x24f8000, end: 0x4d11000, isReadOnly: true, isModified: true},
		{start: 0x4d11000, end: 0x4fd6000},
	}, programParts([]byte(smapsOfProgram), "/bin/plaza"))
	require.Empty(t, programParts(nil, "/bin/plaza"))
}

// TestReleaseProgram removes pages of this program from memory, and goes on with it: what they contain is the same as before.
func TestReleaseProgram(t *testing.T) {
	before := sha256.Sum256([]byte(smapsOfProgram)) // a constant, which is part of the file
	releaseProgram()
	require.Equal(t, before, sha256.Sum256([]byte(smapsOfProgram)))
}

// BenchmarkReleaseProgram reports how many KiB of this program are in memory before and after its pages were removed.
func BenchmarkReleaseProgram(b *testing.B) {
	for b.Loop() {
		before := residentProgram(b)
		releaseProgram()
		b.ReportMetric(float64(before), "KiB-before")
		b.ReportMetric(float64(residentProgram(b)), "KiB-after")
	}
}

// residentProgram returns how many KiB of the program's file are in memory; 0 where the operating system does not tell.
func residentProgram(t testing.TB) (kib int) {
	t.Helper()
	program, _ := os.Readlink("/proc/self/exe")
	smaps, _ := os.ReadFile("/proc/self/smaps")
	within := false
	for line := range strings.Lines(string(smaps)) {
		fields := strings.Fields(line)
		if !strings.HasSuffix(fields[0], ":") {
			within = strings.Contains(line, program)
		}
		if within && fields[0] == "Rss:" {
			n, err := strconv.Atoi(fields[1])
			require.NoError(t, err)
			kib += n
		}
	}
	return kib
}
