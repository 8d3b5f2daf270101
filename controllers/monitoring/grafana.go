package monitoring

// The part of Grafana's dashboard model that the dashboard uses, in Grafana's order. It has no maps, so that equal
// networks have byte-equal dashboards.

// schemaVersion is that of Grafana 12. Older versions ignore unknown fields; newer ones migrate it.
const schemaVersion = 41

type dashboard struct {
	UID           string     `json:"uid"`
	Title         string     `json:"title"`
	Description   string     `json:"description"`
	Tags          []string   `json:"tags"`
	Timezone      string     `json:"timezone"`
	Editable      bool       `json:"editable"`
	GraphTooltip  int        `json:"graphTooltip"` // 1: a crosshair for all panels
	Refresh       string     `json:"refresh"`
	SchemaVersion int        `json:"schemaVersion"`
	Time          timeRange  `json:"time"`
	Templating    templating `json:"templating"`
	Annotations   templating `json:"annotations"`
	Panels        []panel    `json:"panels"`
}

type timeRange struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type templating struct {
	List []variable `json:"list"`
}

type variable struct {
	Name       string   `json:"name"`
	Label      string   `json:"label"`
	Type       string   `json:"type"`
	Query      string   `json:"query"`
	Current    option   `json:"current"`
	Options    []option `json:"options,omitempty"`
	IncludeAll bool     `json:"includeAll"`
	Multi      bool     `json:"multi"`
	Refresh    int      `json:"refresh,omitempty"`
	Hide       int      `json:"hide"`
}

type option struct {
	Selected bool `json:"selected,omitempty"`
	Text     any  `json:"text,omitempty"`
	Value    any  `json:"value,omitempty"`
}

type panel struct {
	ID          int          `json:"id"`
	Type        string       `json:"type"`
	Title       string       `json:"title"`
	Description string       `json:"description,omitempty"`
	GridPos     gridPos      `json:"gridPos"`
	Collapsed   *bool        `json:"collapsed,omitempty"` // of a row
	Datasource  *datasource  `json:"datasource,omitempty"`
	Targets     []target     `json:"targets,omitempty"`
	FieldConfig *fieldConfig `json:"fieldConfig,omitempty"`
	Options     *options     `json:"options,omitempty"`
	Panels      *[]panel     `json:"panels,omitempty"` // of a row: empty, because the panels that follow belong to it
}

type gridPos struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

type datasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

type target struct {
	RefID        string     `json:"refId"`
	Datasource   datasource `json:"datasource"`
	Expr         string     `json:"expr"`
	LegendFormat string     `json:"legendFormat"`
	Format       string     `json:"format,omitempty"`
	Instant      bool       `json:"instant"`
	Range        bool       `json:"range"`
}

type fieldConfig struct {
	Defaults  fieldDefaults `json:"defaults"`
	Overrides []struct{}    `json:"overrides"`
}

type fieldDefaults struct {
	Unit       string      `json:"unit,omitempty"`
	Decimals   *int        `json:"decimals,omitempty"`
	NoValue    string      `json:"noValue,omitempty"`
	Min        *float64    `json:"min,omitempty"`
	Max        *float64    `json:"max,omitempty"`
	Color      *color      `json:"color,omitempty"`
	Mappings   []mapping   `json:"mappings,omitempty"`
	Thresholds *thresholds `json:"thresholds,omitempty"`
	Custom     *custom     `json:"custom,omitempty"`
}

type color struct {
	Mode string `json:"mode"`
}

type mapping struct {
	Type    string  `json:"type"`
	Options answers `json:"options"`
}

// answers are the texts for the values 0, 1 and 2.
type answers struct {
	Zero text  `json:"0"`
	One  text  `json:"1"`
	Two  *text `json:"2,omitempty"`
}

type text struct {
	Text  string `json:"text"`
	Color string `json:"color"`
	Index int    `json:"index"`
}

type thresholds struct {
	Mode  string      `json:"mode"`
	Steps []threshold `json:"steps"`
}

type threshold struct {
	Color string   `json:"color"`
	Value *float64 `json:"value"` // null: the lowest threshold
}

type custom struct {
	FillOpacity     int        `json:"fillOpacity"`
	LineWidth       int        `json:"lineWidth"`
	ShowPoints      string     `json:"showPoints,omitempty"`
	ThresholdsStyle *styleMode `json:"thresholdsStyle,omitempty"`
}

type styleMode struct {
	Mode string `json:"mode"`
}

type options struct {
	Legend        *legend        `json:"legend,omitempty"`
	Tooltip       *tooltip       `json:"tooltip,omitempty"`
	ReduceOptions *reduceOptions `json:"reduceOptions,omitempty"`
	ColorMode     string         `json:"colorMode,omitempty"`
	GraphMode     string         `json:"graphMode,omitempty"`
	TextMode      string         `json:"textMode,omitempty"`
	ShowValue     string         `json:"showValue,omitempty"`
	RowHeight     float64        `json:"rowHeight,omitempty"`
	MergeValues   *bool          `json:"mergeValues,omitempty"`
}

type legend struct {
	DisplayMode string   `json:"displayMode"`
	Placement   string   `json:"placement"`
	ShowLegend  bool     `json:"showLegend"`
	Calcs       []string `json:"calcs"`
}

type tooltip struct {
	Mode string `json:"mode"`
	Sort string `json:"sort"`
}

type reduceOptions struct {
	Calcs  []string `json:"calcs"`
	Fields string   `json:"fields"`
	Values bool     `json:"values"`
}
