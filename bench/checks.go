package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"termic/internal/api"
)

// manyChecks is as many as somebody with a rack of machines has; each is made every minute.
const manyChecks = 1000

// checks measures the app that makes a thousand checks, half of them of a page and half of a port, against itself without any.
func checks(ctx context.Context, b *bench) ([]row, error) {
	var asked atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer site.Close()
	r, err := b.serve()
	if err != nil {
		return nil, err
	}
	pid := r.cmd.Process.Pid
	time.Sleep(2 * time.Second) // what a start does has ended
	empty, err := watch(pid)
	if err != nil {
		return nil, err
	}
	before := descriptors(pid)
	began := time.Now()
	var added api.CheckResult
	for i := range manyChecks {
		kind, target := "http", fmt.Sprintf("%s/%d", site.URL, i)
		if i%2 == 1 {
			kind, target = "tcp", strings.TrimPrefix(site.URL, "http://")
		}
		if err := b.call(ctx, "check_add", map[string]any{"name": fmt.Sprint("c", i), "kind": kind, "targets": []string{target}}, &added); err != nil {
			return nil, err
		}
	}
	adding := time.Since(began) / manyChecks
	err = until(ctx, time.Second, func() (bool, error) { // each has been made once
		var list api.CheckListResult
		err := b.call(ctx, "check_list", map[string]any{"state": "up", "limit": 1}, &list)
		return list.Total == manyChecks, err
	})
	if err != nil {
		return nil, err
	}
	// A start spreads them over their first interval, as months of small differences do.
	if err := r.stop(); err != nil {
		return nil, err
	}
	if r, err = b.serve(); err != nil {
		return nil, err
	}
	pid = r.cmd.Process.Pid
	time.Sleep(5 * time.Second)
	looks := asked.Load()
	most, stop := 0, make(chan struct{})
	counted := make(chan struct{})
	go func() { // until stop is closed, and then counted is
		defer close(counted)
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				most = max(most, descriptors(pid))
			}
		}
	}()
	full, err := watch(pid)
	close(stop)
	<-counted
	looks = asked.Load() - looks
	if err != nil {
		return nil, err
	}
	var lists []time.Duration
	var list api.CheckListResult
	for range 20 {
		began := time.Now()
		if err := b.call(ctx, "check_list", map[string]any{}, &list); err != nil {
			return nil, err
		}
		lists = append(lists, time.Since(began))
	}
	if err := r.stop(); err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%d checks, each every minute (%.0f pages a second), against none: ", manyChecks, float64(looks)/idleWatch.Seconds())
	return []row{
		{what + "processor time", percent(full.cpu), percent(empty.cpu), "+" + percent(full.cpu-empty.cpu)},
		{what + "private memory", kib(full.memory), kib(empty.memory), "+" + kib(full.memory-empty.memory)},
		{what + "open descriptors, at most", fmt.Sprint(most), fmt.Sprint(before), fmt.Sprintf("+%d", most-before)},
		{fmt.Sprintf("one more of %d checks added, the first page of the list (median)", manyChecks), ms(adding) + ", " + ms(median(lists)), "–", "–"},
	}, nil
}

// descriptors counts those of a process; 0 where that cannot be told.
func descriptors(pid int) int {
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return 0
	}
	return len(list)
}
