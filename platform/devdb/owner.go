package devdb

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
)

// owner is the user that runs PostgreSQL, which refuses to run as root. nil is the user of this process.
type owner struct {
	name     string
	uid, gid uint32
}

// ownerOf returns the user that runs the server on data: for root, the owner of the data, else `postgres`, else `nobody`.
func ownerOf(data string) (*owner, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	if info, err := os.Stat(data); err == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 {
			return &owner{name: "uid " + strconv.Itoa(int(st.Uid)), uid: st.Uid, gid: st.Gid}, nil
		}
	}
	for _, name := range []string{"postgres", "nobody"} {
		if o, err := lookupOwner(name); err == nil {
			return o, nil
		}
	}
	return nil, errors.New("PostgreSQL cannot run as root, and neither user postgres nor user `nobody` exists")
}

func lookupOwner(name string) (*owner, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return &owner{name: name, uid: uint32(uid), gid: uint32(gid)}, errors.Join(err1, err2)
}

// chown changes the owner of a file or directory.
func (o *owner) chown(path string) error {
	if o == nil {
		return nil
	}
	return os.Chown(path, int(o.uid), int(o.gid))
}

// prepare makes cmd run as the owner with access to folder; see path.
//
// The owner may lack access to a parent directory, for example if the data directory is in /root. Moving the data would
// leave it behind when the data directory is removed, and changing permissions of parent directories is not acceptable.
// Therefore root opens the directory and the server inherits it as file descriptor 3: /proc/self/fd/3 bypasses the
// parent directories. PostgreSQL changes to its data directory once and then uses relative paths.
func (o *owner) prepare(cmd *exec.Cmd, folder *os.File) {
	if o == nil {
		return
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: o.uid, Gid: o.gid}}
	if runtime.GOOS == "linux" {
		cmd.ExtraFiles = []*os.File{folder}
	}
}

// path returns the path of name in folder for a program prepared with folder.
func (o *owner) path(folder, name string) string {
	if o != nil && runtime.GOOS == "linux" {
		folder = "/proc/self/fd/3" // the first of ExtraFiles
	}
	return filepath.Join(folder, name)
}

func (o *owner) String() string {
	if o == nil {
		return fmt.Sprintf("uid %d", os.Geteuid())
	}
	return o.name
}
