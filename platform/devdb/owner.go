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

// owner is the user that PostgreSQL runs as. PostgreSQL refuses to run as root; nil stands for the user of this process.
type owner struct {
	name     string
	uid, gid uint32
}

// ownerOf returns who runs the server on data: as root, the user the data already belongs to, else postgres, else nobody.
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
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as")
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

// give hands a file or folder over.
func (o *owner) give(path string) error {
	if o == nil {
		return nil
	}
	return os.Chown(path, int(o.uid), int(o.gid))
}

// prepare makes cmd run as the owner, and returns how cmd must write the path of folder.
//
// The owner may be unable to enter the folders above: a data folder under /root, say. Moving the data elsewhere would
// leave it behind when the data folder is removed, and opening the folders above is not ours to do. So root opens the folder
// and the server inherits it as file descriptor 3: /proc/self/fd/3 leads there without passing the folders above. PostgreSQL
// changes into its data folder once and works with relative paths from then on.
func (o *owner) prepare(cmd *exec.Cmd, folder *os.File) {
	if o == nil {
		return
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: o.uid, Gid: o.gid}}
	if runtime.GOOS == "linux" {
		cmd.ExtraFiles = []*os.File{folder}
	}
}

// path returns how a program prepared with folder reaches name in it.
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
