package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// capture records the packets of all interfaces of all nodes in a file in the format of pcap, until it is interrupted.
func capture(ctx context.Context, c cluster, args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("usage: cluster capture FILE")
	}
	file, err := os.Create(args[0])
	if err != nil {
		return err
	}
	r := &recording{file: file}
	err = r.record(ctx, c, out)
	return errors.Join(err, file.Close())
}

// recording is a file with packets.
type recording struct {
	mu      sync.Mutex
	file    *os.File
	packets int
}

// The values of pcap's file header: its magic number, version, the longest packet, and that packets begin with Ethernet's header.
const (
	pcapMagic    = 0xa1b2c3d4
	longestFrame = 1 << 18
	linkEthernet = 1
)

func (r *recording) record(ctx context.Context, c cluster, out io.Writer) error {
	if err := binary.Write(r.file, binary.LittleEndian, []uint32{pcapMagic, 2 | 4<<16, 0, 0, longestFrame, linkEthernet}); err != nil {
		return err
	}
	var sockets []int
	defer func() {
		for _, socket := range sockets {
			_ = unix.Close(socket)
		}
	}()
	for _, one := range c.clusters() {
		for _, n := range one.nodes() {
			socket, err := n.packetSocket()
			if err != nil {
				return fmt.Errorf("recording on %s: %w", n.name(), err)
			}
			sockets = append(sockets, socket)
		}
	}
	fmt.Fprintln(out, "recording")
	errs := make([]error, len(sockets))
	var work sync.WaitGroup
	for i, socket := range sockets {
		work.Go(func() { errs[i] = r.read(ctx, socket) })
	}
	work.Wait()
	lost := 0
	for _, socket := range sockets {
		lost += dropped(socket)
	}
	fmt.Fprintf(out, "%d packets, %d dropped\n", r.packets, lost)
	return errors.Join(errs...)
}

// everyProtocol is ETH_P_ALL in the byte order of the network.
const everyProtocol = 3 << 8

// packetSocket opens a socket that receives the packets of all interfaces in the node's network namespace.
func (n node) packetSocket() (socket int, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked, so that the thread ends with the goroutine
		var namespace *os.File
		if namespace, err = os.Open("/run/netns/" + n.namespace()); err != nil {
			return
		}
		defer func() { _ = namespace.Close() }()
		if err = unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET); err != nil {
			return
		}
		socket, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, everyProtocol)
	}()
	<-done
	if err != nil {
		return 0, err
	}
	const buffer = 64 << 20
	return socket, errors.Join(
		unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, buffer),
		unix.SetsockoptTimeval(socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 200_000}),
	)
}

// read writes the packets of a socket to the file until ctx is done.
func (r *recording) read(ctx context.Context, socket int) error {
	frame := make([]byte, longestFrame)
	for ctx.Err() == nil {
		n, _, err := unix.Recvfrom(socket, frame, 0)
		if slices.Contains([]error{unix.EAGAIN, unix.EINTR}, err) {
			continue
		}
		if err != nil {
			return err
		}
		if err := r.write(frame[:n]); err != nil {
			return err
		}
	}
	return nil
}

func (r *recording) write(frame []byte) error {
	now, size := time.Now(), uint32(len(frame))
	var packet bytes.Buffer
	header := []uint32{uint32(now.Unix()), uint32(now.Nanosecond() / 1000), size, size}
	_ = binary.Write(&packet, binary.LittleEndian, header) // writes to a buffer do not fail
	packet.Write(frame)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.packets++
	_, err := r.file.Write(packet.Bytes())
	return err
}

// dropped returns how many packets a socket had no memory for.
func dropped(socket int) int {
	stats, err := unix.GetsockoptTpacketStats(socket, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return 0
	}
	return int(stats.Drops)
}
