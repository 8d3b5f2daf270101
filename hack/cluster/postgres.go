package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The database is on the host, where every region reaches it by the bridge: one that is cut off loses it, as it would
// lose the other regions' databases.
const databaseName = "plaza"

// startPostgres starts the server, making its data on the first start, and returns when it answers.
func (c cluster) startPostgres(ctx context.Context) error {
	if c.running("postgres") {
		return nil
	}
	bin, err := findPostgres()
	if err != nil {
		return err
	}
	owner, err := plainUser()
	if err != nil {
		return err
	}
	folder, err := c.postgresFolder(owner)
	if err != nil {
		return err
	}
	data := filepath.Join(folder, "data")
	password, err := c.password()
	if err != nil {
		return err
	}
	if !exists(filepath.Join(data, "PG_VERSION")) {
		if err := c.initdb(ctx, bin, data, password, owner); err != nil {
			return err
		}
	}
	err = c.start(daemon{name: "postgres", user: owner, args: []string{
		filepath.Join(bin, "postgres"), "-D", data, "-p", postgresPort, "-c", "listen_addresses=" + hostAddress,
		"-c", "unix_socket_directories=", "-c", "max_connections=500", "-c", "fsync=off", "-c", "jit=off",
	}})
	if err != nil {
		return err
	}
	return c.createDatabase(ctx, bin, password)
}

// findPostgres returns the folder of the newest server programs.
func findPostgres() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		version := func(path string) int {
			n, _ := strconv.Atoi(strings.Split(path, "/")[4]) // Debian's folders are numbers
			return n
		}
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
	}
	if path, err := filepath.EvalSymlinks("/usr/bin/initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", errors.New("no PostgreSQL server programs: run hack/ensure-postgres.sh")
}

// plainUser is who runs the server, which refuses root.
func plainUser() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(errUID, errGID)
	}
	return nil, errors.New("no user postgres or nobody, and the database server refuses to run as root")
}

// postgresFolder returns a folder of owner's that it can reach: below the state folder, or, where a folder above it
// is closed to others, one of its own, whose name is noted for the end.
func (c cluster) postgresFolder(owner *syscall.Credential) (string, error) {
	note := c.path("run", "postgres-folder")
	if text, err := os.ReadFile(note); err == nil && exists(string(text)) {
		return string(text), nil
	}
	folder := c.path("postgres")
	if !openToAll(c.dir) {
		var err error
		if folder, err = os.MkdirTemp("/var/tmp", "plaza-cluster-"); err != nil {
			return "", err
		}
	} else if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	return folder, errors.Join(os.Chown(folder, int(owner.Uid), int(owner.Gid)), write(note, folder))
}

// openToAll tells whether every user may pass through a folder and those above it.
func openToAll(folder string) bool {
	for ; ; folder = filepath.Dir(folder) {
		info, err := os.Stat(folder)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if folder == filepath.Dir(folder) {
			return true
		}
	}
}

// password returns the password of the database, made on the first start.
func (c cluster) password() (string, error) {
	path := c.path("pki", "postgres-password")
	if text, err := os.ReadFile(path); err == nil {
		return string(text), nil
	}
	password := rand.Text()
	return password, write(path, password)
}

func (c cluster) initdb(ctx context.Context, bin, data, password string, owner *syscall.Credential) error {
	// The server's user may not read our folder, so the password lies beside the data for a moment.
	file := filepath.Join(filepath.Dir(data), "password")
	defer os.Remove(file) //nolint:errcheck // only its owner and root can read it
	if err := errors.Join(write(file, password), os.Chown(file, int(owner.Uid), int(owner.Gid))); err != nil {
		return err
	}
	_, err := runAs(ctx, owner, "", filepath.Join(bin, "initdb"), "-D", data, "-U", databaseName,
		"--auth=scram-sha-256", "--pwfile="+file, "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
	if err != nil {
		return err
	}
	access, err := os.OpenFile(filepath.Join(data, "pg_hba.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	var errs []error
	for _, network := range []string{nodeNetwork, podNetwork} {
		_, err := fmt.Fprintln(access, "host", "all", "all", network, "scram-sha-256")
		errs = append(errs, err)
	}
	return errors.Join(append(errs, access.Close())...)
}

// createDatabase waits for the server, makes Plaza's database in it, and writes down how to reach it.
func (c cluster) createDatabase(ctx context.Context, bin, password string) error {
	url := func(database string) string {
		u := url.URL{
			Scheme: "postgresql", User: url.UserPassword(databaseName, password),
			Host: net.JoinHostPort(hostAddress, postgresPort), Path: "/" + database, RawQuery: "sslmode=disable",
		}
		return u.String()
	}
	err := within(ctx, time.Minute, "waiting for PostgreSQL", func(ctx context.Context) error {
		if !c.running("postgres") {
			return errors.New("it ended: " + c.lastWords("postgres"))
		}
		found, err := pipe(ctx, "SELECT 1 FROM pg_database WHERE datname = '"+databaseName+"'",
			filepath.Join(bin, "psql"), "-d", url("postgres"), "-At", "-w")
		if err != nil || strings.TrimSpace(found) == "1" {
			return err
		}
		_, err = pipe(ctx, "CREATE DATABASE "+databaseName, filepath.Join(bin, "psql"), "-d", url("postgres"), "-w")
		return err
	})
	if err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), password, "…"))
	}
	return write(c.databaseURL(), url(databaseName)+"\n")
}
