package monitoring

// The colors of Grafana's palette that the panels use.
const (
	green  = "green"
	yellow = "yellow"
	red    = "red"
)

var prometheusSource = datasource{Type: "prometheus", UID: "${datasource}"}

// query is one or several lines of a panel.
type query struct {
	expr   string
	legend string
}

// row starts a row of panels.
func row(title string) panel {
	return panel{Type: "row", Title: title, GridPos: gridPos{H: 1, W: 24}, Collapsed: new(false), Panels: &[]panel{}}
}

// chart returns a panel with lines over time.
func chart(title, description, unit string, width int, queries ...query) panel {
	p := data("timeseries", title, description, width, 8, false, queries)
	p.FieldConfig.Defaults = fieldDefaults{
		Unit: unit, Min: new(0.0), Color: &color{Mode: "palette-classic"},
		Custom: &custom{FillOpacity: 8, LineWidth: 1, ShowPoints: "never"},
	}
	p.Options = &options{
		Legend:  &legend{DisplayMode: "table", Placement: "bottom", ShowLegend: true, Calcs: []string{"mean", "max", "lastNotNull"}},
		Tooltip: &tooltip{Mode: "multi", Sort: "desc"},
	}
	return p
}

// withLimit draws a line at the limit of good values.
func (p panel) withLimit(limit float64) panel {
	p.FieldConfig.Defaults.Thresholds = steps(threshold{green, nil}, threshold{red, &limit})
	p.FieldConfig.Defaults.Custom.ThresholdsStyle = &styleMode{Mode: "dashed"}
	return p
}

// number returns a panel with one value.
func number(title, description, unit string, width int, expr string, levels ...threshold) panel {
	p := data("stat", title, description, width, 4, true, []query{{expr, ""}})
	p.FieldConfig.Defaults = fieldDefaults{Unit: unit, Color: &color{Mode: "thresholds"}, Thresholds: steps(levels...)}
	p.Options = &options{ReduceOptions: &reduceOptions{Calcs: []string{"lastNotNull"}}, ColorMode: "background", GraphMode: "none", TextMode: "auto"}
	return p
}

// answer shows the values 0 and 1 as texts.
func (p panel) answer(zero, one text) panel {
	zero.Index, one.Index = 0, 1
	p.FieldConfig.Defaults.Mappings = []mapping{{Type: "value", Options: answers{Zero: zero, One: one}}}
	return p
}

// orElse shows the value 2 as a text.
func (p panel) orElse(two text) panel {
	two.Index = 2
	p.FieldConfig.Defaults.Mappings[0].Options.Two = &two
	return p
}

// without shows a text if there is no value.
func (p panel) without(words string) panel {
	p.FieldConfig.Defaults.NoValue = words
	return p
}

// timeline returns a panel that shows values of 0 and 1 over time.
func timeline(title, description string, width int, zero, one text, queries ...query) panel {
	p := data("state-timeline", title, description, width, 8, false, queries)
	p.FieldConfig.Defaults = fieldDefaults{Color: &color{Mode: "thresholds"}, Custom: &custom{FillOpacity: 80}}
	p.Options = &options{
		ShowValue: "never", RowHeight: 0.8, MergeValues: new(true),
		Legend:  &legend{DisplayMode: "list", Placement: "bottom", ShowLegend: true, Calcs: []string{}},
		Tooltip: &tooltip{Mode: "single", Sort: "none"},
	}
	return p.answer(zero, one)
}

func data(kind, title, description string, width, height int, instant bool, queries []query) panel {
	p := panel{
		Type: kind, Title: title, Description: description, GridPos: gridPos{H: height, W: width}, Datasource: &prometheusSource,
		FieldConfig: &fieldConfig{Overrides: []struct{}{}},
	}
	for i, q := range queries {
		p.Targets = append(p.Targets, target{
			RefID: string(rune('A' + i)), Datasource: prometheusSource, Expr: q.expr, LegendFormat: q.legend, Instant: instant, Range: !instant,
		})
	}
	return p
}

func steps(levels ...threshold) *thresholds { return &thresholds{Mode: "absolute", Steps: levels} }

// from returns a threshold from which a color applies.
func from(value float64, name string) threshold { return threshold{Color: name, Value: &value} }

// arrange numbers the panels and positions them from left to right and from top to bottom.
func arrange(panels []panel) []panel {
	x, y, height := 0, 0, 0
	for i := range panels {
		at := &panels[i].GridPos
		if x+at.W > 24 {
			x, y, height = 0, y+height, 0
		}
		panels[i].ID, at.X, at.Y = i+1, x, y
		x, height = x+at.W, max(height, at.H)
	}
	return panels
}
