package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// usage is what a process took so far.
type usage struct {
	cpu     time.Duration
	bytes   float64 // allocated
	objects float64 // allocated
}

// hertz is how finely Linux counts a process' time: USER_HZ, 100 on every platform of Go's.
const hertz = 100

// cpuOf reads what a process and its threads had of the CPUs (proc_pid_stat(5)).
func cpuOf(pid int) (time.Duration, error) {
	_, fields, err := stat(pid)
	if err != nil {
		return 0, err
	}
	return ticks(fields[11:13]) // utime and stime
}

// cpuOfFamily reads what a process, its children and those that it had had of the CPUs.
func cpuOfFamily(pid int) (time.Duration, error) {
	_, fields, err := stat(pid)
	if err != nil {
		return 0, err
	}
	all, err := ticks(fields[11:15]) // with cutime and cstime, of children that ended
	if err != nil {
		return 0, err
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		child, err := strconv.Atoi(e.Name())
		if err != nil {
			continue // no process
		}
		parent, fields, err := stat(child)
		if err != nil || parent != pid {
			continue // it ended, or is another's
		}
		took, err := ticks(fields[11:13])
		if err != nil {
			return 0, err
		}
		all += took
	}
	return all, nil
}

// stat reads /proc/PID/stat from the third field on, and the parent's id.
func stat(pid int) (parent int, fields []string, err error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, nil, err
	}
	_, rest, _ := strings.Cut(string(content), ") ") // the name may hold spaces
	fields = strings.Fields(rest)
	if len(fields) < 15 {
		return 0, nil, fmt.Errorf("/proc/%d/stat is not as expected", pid)
	}
	parent, err = strconv.Atoi(fields[1])
	return parent, fields, err
}

func ticks(fields []string) (time.Duration, error) {
	all := 0
	for _, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0, err
		}
		all += n
	}
	return time.Duration(all) * time.Second / hertz, nil
}

// ownOfChildren adds up what the children of a process have in memory that belongs to nobody
// else, in bytes (proc_pid_status(5)).
func ownOfChildren(pid int) (all int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		child, err := strconv.Atoi(e.Name())
		if err != nil {
			continue // no process
		}
		if parent, _, err := stat(child); err != nil || parent != pid {
			continue
		}
		content, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", child)) // it may have ended
		for line := range strings.Lines(string(content)) {
			var kilobytes int
			if _, err := fmt.Sscanf(line, "RssAnon: %d kB", &kilobytes); err == nil {
				all += kilobytes << 10
			}
		}
	}
	return all
}

// residentOf reads how much of a process is in memory, in bytes (proc_pid_statm(5)).
func residentOf(pid int) (int, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	var size, resident int
	if _, err := fmt.Sscan(string(content), &size, &resident); err != nil {
		return 0, err
	}
	return resident * os.Getpagesize(), nil
}

// allocated asks a process for what it allocated, in Prometheus' text format.
func allocated(ctx context.Context, url string) (bytes, objects float64, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		switch name {
		case "go_memstats_alloc_bytes_total":
			bytes, err = strconv.ParseFloat(value, 64)
		case "go_memstats_mallocs_total":
			objects, err = strconv.ParseFloat(value, 64)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return bytes, objects, lines.Err()
}
