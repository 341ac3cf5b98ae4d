package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// mountLimit is how long squashfuse has to mount.
const mountLimit = 10 * time.Second

// mount mounts the file system with squashfuse, for people who want to look into it, says where, and waits for a signal or for the end of the mount.
func mount(file *appImage, out io.Writer) error {
	if err := file.verify(); err != nil {
		return err
	}
	program, err := exec.LookPath("squashfuse")
	if err != nil {
		return said("There is no squashfuse here to mount it with. Install it, or unpack the file with --appimage-extract.")
	}
	dir, err := os.MkdirTemp("", ".mount_termic")
	if err != nil {
		return said("There is no folder to mount it on: %w", err)
	}
	defer os.Remove(dir)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	c := exec.Command(program, "-f", "-o", "ro,nosuid,nodev,offset="+strconv.FormatInt(file.offset, 10), file.path, dir)
	c.Stderr = os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM} // an interrupt of the terminal is passed on once
	if err := c.Start(); err != nil {
		return said("squashfuse cannot be started: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	if err := mounted(dir, ended); err != nil {
		_ = c.Process.Signal(syscall.SIGTERM)
		return err
	}
	if _, err := fmt.Fprintln(out, dir); err != nil {
		stop <- syscall.SIGTERM // nobody reads where it is
	}
	select {
	case <-stop:
		_ = c.Process.Signal(syscall.SIGTERM) // it takes the mount away
		<-ended
		return nil
	case err := <-ended:
		if err != nil {
			return said("squashfuse ended: %w", err)
		}
		return nil
	}
}

// mounted waits until a folder is another file system than the one around it.
func mounted(dir string, ended <-chan error) error {
	var before, now syscall.Stat_t
	if err := syscall.Stat(dir+"/..", &before); err != nil {
		return said("The folder to mount it on is gone: %w", err)
	}
	for end := time.Now().Add(mountLimit); time.Now().Before(end); {
		if syscall.Stat(dir, &now) == nil && now.Dev != before.Dev {
			return nil
		}
		select {
		case err := <-ended:
			return said("squashfuse cannot mount it (%w). Is there a /dev/fuse, and fusermount? --appimage-extract unpacks the file without them.", err)
		case <-time.After(20 * time.Millisecond): // nothing tells of a mount without asking for all of them
		}
	}
	return said("squashfuse did not mount it within %s. --appimage-extract unpacks the file without it.", mountLimit)
}
