package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"
)

// longest is the maximum text length, in bytes.
const longest = 1 << 30

// idle is the time without requests before memory returns to the system.
const idle = 2 * time.Second

// A build allocates a lot of memory and retains little. With the default pace, garbage collection takes a third of the
// build time. The heap may grow to five times the live data before a collection (in percent), until it approaches the
// limit (in bytes).
const (
	heapGrowth = 400
	heapLimit  = 1 << 30
)

// serve responds to requests in order until the end of in. All numbers are unsigned, with four bytes, most significant
// first.
//
//	request  = file count, then for each: length, path, length, text
//	response = 0 or 1, length, then the module (0) or the error (1)
//
// It returns an error if in or out breaks off in the middle.
func serve(in io.Reader, out io.Writer, entrypoints []string) error {
	debug.SetGCPercent(heapGrowth)
	debug.SetMemoryLimit(heapLimit)
	reader := bufio.NewReaderSize(in, 1<<20)
	builder := newBuilder(entrypoints)
	rest := time.AfterFunc(idle, debug.FreeOSMemory)
	for {
		files, err := readRequest(reader)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		rest.Stop()
		module, err := builder.build(files)
		if err := writeResponse(out, module, err); err != nil {
			return err
		}
		rest.Reset(idle)
	}
}

// readRequest returns io.EOF only if there is no further request.
func readRequest(reader io.Reader) ([]file, error) {
	count, err := readNumber(reader)
	if err != nil {
		return nil, err
	}
	files := make([]file, 0, min(count, 1<<16))
	for range count {
		path, err := readText(reader)
		if err != nil {
			return nil, brokenOff(err)
		}
		text, err := readText(reader)
		if err != nil {
			return nil, brokenOff(err)
		}
		files = append(files, file{path: path, text: text})
	}
	return files, nil
}

func readNumber(reader io.Reader) (uint32, error) {
	var bytes [4]byte
	if _, err := io.ReadFull(reader, bytes[:]); err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(bytes[:]), nil
}

func readText(reader io.Reader) (string, error) {
	length, err := readNumber(reader)
	if err != nil {
		return "", err
	}
	if length > longest {
		return "", fmt.Errorf("a text of %d bytes is too long", length)
	}
	bytes := make([]byte, length)
	_, err = io.ReadFull(reader, bytes)
	return string(bytes), err
}

func brokenOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func writeResponse(out io.Writer, module []byte, failure error) error {
	status, body := byte(0), module
	if failure != nil {
		status, body = 1, []byte(failure.Error())
	}
	header := binary.BigEndian.AppendUint32([]byte{status}, uint32(len(body)))
	if _, err := out.Write(header); err != nil {
		return err
	}
	_, err := out.Write(body)
	return err
}
