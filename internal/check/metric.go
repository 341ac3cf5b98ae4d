package check

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// selector chooses series of a page of metrics.
type selector struct {
	name   string
	labels map[string]string
}

// metricTarget reads "https://example.com/metrics#jobs_failed{queue="mail"}".
func metricTarget(t string) (page string, s selector, err error) {
	page, text, has := strings.Cut(t, "#")
	if _, err := pageURL(page); err != nil {
		return "", s, err
	}
	if s, err = parseSelector(text); err != nil || !has {
		return "", s, bad("target", "%q does not end with the name of a metric, as in https://example.com/metrics#jobs_failed{queue=\"mail\"}", t)
	}
	return page, s, nil
}

// parseSelector reads a name, and label="value" pairs in braces.
func parseSelector(text string) (selector, error) {
	name, rest, braces := strings.Cut(text, "{")
	s := selector{name: strings.TrimSpace(name), labels: map[string]string{}}
	if !model.LegacyValidation.IsValidMetricName(s.name) {
		return s, fmt.Errorf("%q is no name of a metric", s.name)
	}
	if !braces {
		return s, nil
	}
	rest, closed := strings.CutSuffix(strings.TrimSpace(rest), "}")
	if !closed {
		return s, fmt.Errorf("the braces of %q are not closed", text)
	}
	for rest = strings.TrimSpace(rest); rest != ""; {
		label, after, ok := strings.Cut(rest, "=")
		label = strings.TrimSpace(label)
		quoted, err := strconv.QuotedPrefix(strings.TrimSpace(after))
		if !ok || err != nil || !model.LegacyValidation.IsValidLabelName(label) {
			return s, fmt.Errorf("%q is no label with a value in quotes", rest)
		}
		value, err := strconv.Unquote(quoted)
		if err != nil {
			return s, err
		}
		s.labels[label] = value
		rest = strings.TrimSpace(strings.TrimSpace(after)[len(quoted):])
		if next, comma := strings.CutPrefix(rest, ","); comma {
			rest = strings.TrimSpace(next)
		} else if rest != "" {
			return s, fmt.Errorf("%q does not go on with a comma", rest)
		}
	}
	return s, nil
}

func (p *Prober) metric(ctx context.Context, s Spec, target string) (Result, error) {
	url, sel, err := metricTarget(target)
	if err != nil {
		return Result{}, err
	}
	got, err := p.fetch(ctx, url)
	r := Result{Addr: got.addr}
	switch {
	case err != nil:
		return r, err
	case got.code != 200:
		return r, fail("%s", got.status)
	case !got.whole:
		return r, fail("the page is longer than 1 MiB")
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(append(got.body, '\n')))
	if err != nil {
		return r, fail("the page is not in the text format of Prometheus")
	}
	found := sel.values(families)
	switch len(found) {
	case 0:
		return r, fail("the page has no such metric")
	case 1:
	default:
		return r, fail("%d series have that name; give labels until one is left", len(found))
	}
	want, err := strconv.ParseFloat(s.Value, 64)
	if err != nil {
		return r, err
	}
	is := strconv.FormatFloat(found[0], 'g', -1, 64)
	if r.Detail = "is " + is; !compares(found[0], s.Op, want) {
		return r, fail("is %s, and should be %s %s", is, s.Op, s.Value)
	}
	return r, nil
}

// values are those of the series that a selector chooses. The parts of histograms and summaries have the names that stand on
// the page: _sum, _count, _bucket with le, and quantile.
func (s selector) values(families map[string]*dto.MetricFamily) []float64 {
	var out []float64
	take := func(name string, v float64, labels []*dto.LabelPair, more ...string) {
		if name == s.name && s.has(labels, more...) {
			out = append(out, v)
		}
	}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			switch f.GetType() {
			case dto.MetricType_COUNTER:
				take(name, m.GetCounter().GetValue(), m.GetLabel())
			case dto.MetricType_GAUGE:
				take(name, m.GetGauge().GetValue(), m.GetLabel())
			case dto.MetricType_UNTYPED:
				take(name, m.GetUntyped().GetValue(), m.GetLabel())
			case dto.MetricType_SUMMARY:
				take(name+"_sum", m.GetSummary().GetSampleSum(), m.GetLabel())
				take(name+"_count", float64(m.GetSummary().GetSampleCount()), m.GetLabel())
				for _, q := range m.GetSummary().GetQuantile() {
					take(name, q.GetValue(), m.GetLabel(), "quantile", number(q.GetQuantile()))
				}
			case dto.MetricType_HISTOGRAM:
				take(name+"_sum", m.GetHistogram().GetSampleSum(), m.GetLabel())
				take(name+"_count", float64(m.GetHistogram().GetSampleCount()), m.GetLabel())
				for _, b := range m.GetHistogram().GetBucket() {
					take(name+"_bucket", float64(b.GetCumulativeCount()), m.GetLabel(), "le", number(b.GetUpperBound()))
				}
			}
		}
	}
	return out
}

// number writes a bound as the page does.
func number(f float64) string {
	if math.IsInf(f, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// has reports whether a series has all labels of the selector; more are a name and a value that the page writes as a label.
func (s selector) has(labels []*dto.LabelPair, more ...string) bool {
	have := map[string]string{}
	for _, l := range labels {
		have[l.GetName()] = l.GetValue()
	}
	if len(more) == 2 {
		have[more[0]] = more[1]
	}
	for name, value := range s.labels {
		if v, ok := have[name]; !ok || v != value {
			return false
		}
	}
	return true
}

func compares(is float64, op string, want float64) bool {
	switch op {
	case ">":
		return is > want
	case ">=":
		return is >= want
	case "<":
		return is < want
	case "<=":
		return is <= want
	case "==":
		return is == want
	}
	return op == "!=" && is != want
}
