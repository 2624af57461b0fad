{{/*
What `paddock pools check` refuses and the schema cannot say, by the rules of packages/domain/src/pools.
The services would refuse it, and put no such file in force.
*/}}
{{- define "paddock.validate.pools" -}}
{{- $places := dict -}}
{{- range $nth, $pool := .Values.config.pools }}
{{- $place := printf "config.pools[%d]" $nth -}}
{{- with get $places $pool.name }}
{{ $place }}.name: {{ $pool.name }} is the name of {{ . }} too; allowed: each name once
{{- end }}
{{- $_ := set $places $pool.name $place -}}
{{- $jobs := list $pool.labels ($pool.entities | default list) ($pool.repositories | default list) -}}
{{- $key := list -}}
{{- range $jobs }}{{ $key = append $key (toJson . | lower | fromJsonArray | uniq | sortAlpha) }}{{ end -}}
{{- $key = toJson $key -}}
{{- with get $places $key }}
{{ $place }}.labels: they are those of {{ . }}, and GitHub could not tell the two apart; allowed: other labels, or other entities or repositories
{{- end }}
{{- $_ := set $places $key $place -}}
{{- $bytes := 0 -}}
{{- range $pool.labels | join "\n" | lower | splitList "\n" | uniq }}{{ $bytes = add $bytes (len .) 4 }}{{ end -}}
{{- if gt $bytes 2000 }}
{{ $place }}.labels: they have {{ $bytes }} bytes, counting 4 more for each; allowed: 2000
{{- end }}
{{- include "paddock.validate.registration" (dict "place" $place "pool" $pool) }}
{{- include "paddock.validate.warm" (dict "place" $place "pool" $pool "now" now) }}
{{- include "paddock.validate.template" (dict "place" $place "pool" $pool) }}
{{- if not $pool.allowUntrusted }}
{{- range $whom := include "paddock.strangers" (dict "pool" $pool "entities" $.Values.config.entities) | splitList "\n" | compact }}
{{- with include "paddock.nodePowers" $pool | splitList "\n" | compact | first }}
{{ $place }}.allowUntrusted: its jobs have power over their node ({{ . }}), and it serves {{ $whom }}, or, if that is meant, allowUntrusted: true
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Where a pool's runners register. These take place and pool. */}}
{{- define "paddock.validate.registration" -}}
{{- $pool := .pool -}}
{{- $isShared := ne ($pool.registration | default "organization") "repository" -}}
{{- if and $isShared $pool.repositories }}
{{- if eq ($pool.runnerGroup | default "default" | lower) "default" }}
{{ .place }}.repositories: GitHub gives any job of an organisation any runner of its default group; allowed: with registration: repository, or a runnerGroup that only these may use
{{- end }}
{{- with $pool.runnerGroupVisibility }}{{ if ne . "selected" }}
{{ $.place }}.runnerGroupVisibility: it is {{ . }}, and repositories says which may use the group; allowed: selected, or nothing
{{- end }}{{ end }}
{{- end }}
{{- if and $isShared $pool.maxWorkersPerRepository }}
{{ .place }}.maxWorkersPerRepository: GitHub gives any job of an organisation any of its runners; allowed: with registration: repository
{{- end }}
{{- if and $pool.publicRepositories (eq ($pool.runnerGroupVisibility | default "") "private") }}
{{ .place }}.runnerGroupVisibility: it is private, and publicRepositories is true; allowed: one of both
{{- end }}
{{- if and $pool.unlabelled (not $pool.entities) (not $pool.repositories) }}
{{ .place }}.unlabelled: it is true, and a queued job names no runner group; allowed: with entities or repositories
{{- end }}
{{- end -}}

{{/* Not where Helm's machine has no database of time zones: each would be UTC. */}}
{{- define "paddock.knowsTimeZones" -}}
{{- if eq "+0530" (dateInZone "-0700" .now "Asia/Kolkata") }}true{{ end -}}
{{- end -}}

{{- define "paddock.validate.warm" -}}
{{- $pool := .pool -}}
{{- $known := dict -}}
{{- range $nth, $warm := $pool.warm }}
{{- $scope := lower $warm.scope -}}
{{- $place := printf "%s.warm[%d].scope" $.place $nth -}}
{{- if hasKey $known $scope }}
{{ $place }}: {{ $warm.scope }} is there twice; allowed: each scope once
{{- end }}
{{- $_ := set $known $scope true -}}
{{- if not (or $warm.workers $warm.times) }}
{{ $.place }}.warm[{{ $nth }}].workers: it is missing, and there are no times; allowed: 1 to 1000
{{- end }}
{{- range $time, $one := $warm.times }}
{{- if and (include "paddock.knowsTimeZones" $) (eq "UTC" (dateInZone "MST" $.now $one.timezone)) (not (regexMatch "(?i)^(utc|uct|zulu|universal|etc/(utc|uct|zulu|universal))$" $one.timezone)) }}
{{ $.place }}.warm[{{ $nth }}].times[{{ $time }}].timezone: it is {{ $one.timezone }}, which is no time zone; allowed: a name such as Europe/Berlin
{{- end }}
{{- end }}
{{- $isNamed := contains "/" $scope -}}
{{- if and (eq ($pool.registration | default "organization") "repository") (not $isNamed) }}
{{ $place }}: it is {{ $warm.scope }}, and runners of this pool register at repositories; allowed: {{ $warm.scope }}/REPOSITORY
{{- end }}
{{- $isServed := or (not $pool.entities) (regexMatch `"id:` (toJson $pool.entities)) (include "paddock.globs" (list $pool.entities (regexFind `^[^/]+` $scope))) -}}
{{- if not (and $isServed (or (not $pool.repositories) (not $isNamed) (include "paddock.globs" (list $pool.repositories $scope)))) }}
{{ $place }}: it is {{ $warm.scope }}, which this pool does not serve; allowed: one among its entities and repositories
{{- end }}
{{- end }}
{{- end -}}

{{/* Whether one of the patterns, in which * means any characters but /, matches the text. */}}
{{- define "paddock.globs" -}}
{{- range first . -}}
{{- if regexMatch (regexQuoteMeta . | replace `\*` `[^/]*` | printf "(?i)^%s$") (last $) }}true{{ end -}}
{{- end -}}
{{- end -}}

{{- define "paddock.validate.template" -}}
{{- $pool := .pool -}}
{{- $spec := ($pool.template | default dict).spec | default dict -}}
{{- if include "paddock.isForWindows" $pool }}
{{- if eq ($pool.containerMode | default "none") "dind" }}
{{ .place }}.containerMode: it is dind, a daemon for Linux, and the nodes have Windows; allowed: none
{{- end }}
{{- if $pool.caBundle }}
{{ .place }}.caBundle: it is mounted where Linux reads it, and the nodes have Windows; allowed: certificates in the image
{{- end }}
{{- end }}
{{- if eq (toString $pool.keepLogs) "false" }}
{{- range $list := list "containers" "initContainers" }}
{{- range $nth, $container := get $spec $list | default list }}
{{- if eq ($container.terminationMessagePolicy | default "") "FallbackToLogsOnError" }}
{{ printf "%s.template.spec.%s[%d]" $.place $list $nth }}.terminationMessagePolicy: it puts the end of a log into the status of the pod, and keepLogs is false; allowed: File
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Whether all nodes that the pods of a pool fit have Windows. */}}
{{- define "paddock.isForWindows" -}}
{{- $spec := (.template | default dict).spec | default dict -}}
{{- $selected := list -}}
{{- range $key, $value := merge (dict) (.nodeSelector | default dict) ($spec.nodeSelector | default dict) -}}
{{- $selected = append $selected (dict "key" $key "operator" "In" "values" (list $value)) -}}
{{- end -}}
{{- $affinity := ($spec.affinity | default dict).nodeAffinity | default dict -}}
{{- $terms := ($affinity.requiredDuringSchedulingIgnoredDuringExecution | default dict).nodeSelectorTerms | default list -}}
{{- $isEvery := gt (len $terms) 0 -}}
{{- range $terms }}{{ if not (include "paddock.wantsWindows" .matchExpressions) }}{{ $isEvery = false }}{{ end }}{{ end -}}
{{- $system := ($spec.os | default dict).name | default "" | lower -}}
{{- if or $isEvery (eq $system "windows") (include "paddock.wantsWindows" $selected) }}true{{ end -}}
{{- end -}}

{{/* Whether one of the requirements of labels leaves nodes with Windows alone. */}}
{{- define "paddock.wantsWindows" -}}
{{- range . -}}
{{- $values := .values | default list | join "," | lower -}}
{{- if eq .key "node.kubernetes.io/windows-build" -}}
{{- if not (has .operator (list "NotIn" "DoesNotExist")) }}true{{ end -}}
{{- else if has .key (list "kubernetes.io/os" "beta.kubernetes.io/os") -}}
{{- if or (and (eq .operator "In") (regexMatch "^windows(,windows)*$" $values)) (and (eq .operator "NotIn") (has "linux" (splitList "," $values))) }}true{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Whom a pool serves without naming them, a line each, with what is allowed. Takes pool and entities. */}}
{{- define "paddock.strangers" -}}
{{- $pool := .pool -}}
{{- $isNamed := and $pool.entities (not (contains "*" (join "" $pool.entities))) -}}
{{- if $pool.repositories }}{{ if not (regexMatch `"[^/"]*\*[^/"]*/` (toJson $pool.repositories)) }}{{ $isNamed = true }}{{ end }}{{ end -}}
{{- if and (hasKey .entities "*") (not $isNamed) }}
everyone who installs the App, because of '*' in entities; allowed: entities of the pool, without a *
{{- end }}
{{- if $pool.publicRepositories }}
public repositories, where anyone can propose code to run; allowed: no publicRepositories
{{- end }}
{{- if and (ne ($pool.registration | default "organization") "repository") (eq ($pool.runnerGroup | default "default" | lower) "default") }}
all that may use the runner group Default; allowed: another runnerGroup, or registration: repository
{{- end }}
{{- end -}}

{{/* What gives the jobs of a pool power over their node, a line each. */}}
{{- define "paddock.nodePowers" -}}
{{- if eq (.containerMode | default "none") "dind" }}
containerMode: dind
{{- end }}
{{- $spec := (.template | default dict).spec | default dict -}}
{{- range list "hostNetwork" "hostPID" "hostIPC" }}{{ if get $spec . }}
{{ . }} of its template
{{- end }}{{ end }}
{{- range $spec.volumes }}{{ if .hostPath }}
hostPath in the volume {{ .name }}
{{- end }}{{ end }}
{{- if (($spec.securityContext | default dict).windowsOptions | default dict).hostProcess }}
hostProcess of its template
{{- end }}
{{- range concat ($spec.containers | default list) ($spec.initContainers | default list) }}
{{- $name := .name -}}
{{- with .securityContext }}
{{- if .privileged }}
privileged in the container {{ $name }}
{{- end }}
{{- range (.capabilities | default dict).add }}
{{- if not (regexMatch `^(?i:CAP_)?(?i:AUDIT_WRITE|CHOWN|DAC_OVERRIDE|FOWNER|FSETID|KILL|MKNOD|NET_BIND_SERVICE|SETFCAP|SETGID|SETPCAP|SETUID|SYS_CHROOT)$` .) }}
the capability {{ . }} in the container {{ $name }}
{{- end }}
{{- end }}
{{- if (.windowsOptions | default dict).hostProcess }}
hostProcess in the container {{ $name }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "paddock.validate.entities" -}}
{{- $logins := dict -}}
{{- range $login, $limits := .Values.config.entities }}
{{- range $key := list "commonMaxWorkers" "commonWeight" }}{{ if and (ne $login "*") (hasKey ($limits | default dict) $key) }}
config.entities: {{ $login }} has {{ $key }}; allowed: maxWorkers and weight of a named entity, and this below '*'
{{- end }}{{ end }}
{{- if and (regexMatch `(?i)^\s*id\s*:` $login) (not (regexMatch `^id:[1-9]\d{0,15}$` $login)) }}
config.entities: {{ $login }} is no id; allowed: id: and the entity's number, as in id:9919
{{- end }}
{{- if hasKey $logins (lower $login) }}
config.entities: {{ $login }} is there twice; allowed: each login once, for GitHub takes capital letters for small ones
{{- end }}
{{- $_ := set $logins (lower $login) true -}}
{{- end }}
{{- end -}}
