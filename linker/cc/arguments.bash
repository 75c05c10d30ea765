# SPDX-License-Identifier: Apache-2.0
# arguments.bash: reads janus-cc's arguments. Options that janus-cc handles itself are not passed on, those that are not possible
# are refused in one line, and all others are passed to the step that they are for.
# shellcheck shell=bash disable=SC2034,SC2154  # variables of janus-cc and of its other parts

# Prints the words of a response file as gcc reads them, each followed by a NUL: blanks separate words, quotes group, and a
# backslash escapes the next character.
split_response_file() {
  awk '
    { text = text $0 "\n" }
    function flush() { if (open) printf "%s%c", word, 0; word = ""; open = 0 }
    END {
      count = length(text)
      for (i = 1; i <= count; i++) {
        c = substr(text, i, 1)
        if (c == "\\") { word = word substr(text, ++i, 1); open = 1 }
        else if (quote != "") { if (c == quote) quote = ""; else word = word c }
        else if (c == "\"" || c == "\047") { quote = c; open = 1 }
        else if (c ~ /[ \t\r\n\f\v]/) flush()
        else { word = word c; open = 1 }
      }
      flush()
    }' "$1"
}

# Sets `arguments` to the function's arguments, with each @FILE replaced by the arguments in it, which may name further files.
expand_response_files() {
  local argument depth=0 expanded left=1
  arguments=("$@")
  while [ "$left" = 1 ]; do
    left=0 expanded=()
    depth=$((depth + 1))
    [ "$depth" -le 100 ] || refuse 'response files that name each other'
    for argument in ${arguments[@]+"${arguments[@]}"}; do
      if [[ $argument == @?* && -f ${argument#@} && -r ${argument#@} ]]; then
        local words
        mapfile -d '' -t words < <(split_response_file "${argument#@}")
        expanded+=(${words[@]+"${words[@]}"})
        left=1
      else
        expanded+=("$argument")
      fi
    done
    arguments=(${expanded[@]+"${expanded[@]}"})
  done
}

# Replaces a long option of gcc's by its short name, the only one that the other functions know: sets `argument`, and `value` to
# the text behind its =.
shorten() {
  local short
  case $1 in
    --compile) argument=-c ;;
    --assemble) argument=-S ;;
    --preprocess) argument=-E ;;
    --dependencies) argument=-M ;;
    --user-dependencies) argument=-MM ;;
    --write-dependencies) argument=-MD ;;
    --write-user-dependencies) argument=-MMD ;;
    --print-missing-file-dependencies) argument=-MG ;;
    --no-standard-includes) argument=-nostdinc ;;
    --no-standard-libraries) argument=-nostdlib ;;
    --verbose) argument=-v ;;
    --profile) argument=-p ;;
    --ansi | --std=* | --static | --static-pie | --pie | --no-pie | --save-temps | --save-temps=*) argument=${1#-} ;;
  esac
  case ${1%%=*} in
    --include-directory) short=-I ;;
    --include-directory-after) short=-idirafter ;;
    --include) short=-include ;;
    --imacros) short=-imacros ;;
    --define-macro) short=-D ;;
    --undefine-macro) short=-U ;;
    --language) short=-x ;;
    --output) short=-o ;;
    --library) short=-l ;;
    --library-directory) short=-L ;;
    --prefix) short=-B ;;
    --entry) short=-e ;;
    --force-link) short=-u ;;
    --for-linker) short=-Xlinker ;;
    --for-assembler) short=-Xassembler ;;
    *) return ;;
  esac
  argument=$short
  case $1 in *=*) value=${1#*=} with_value=1 ;; esac
}

# Whether the value of an option is the next argument.
takes_value() {
  case $1 in
    -o | -I | -D | -U | -L | -l | -x | -T | -Ttext | -Tdata | -Tbss | -u | -e | -z | -A | -B | -G | -MF | -MT | -MQ | -MJ | \
      -include | -imacros | -isystem | -iquote | -idirafter | -iprefix | -iwithprefix | -iwithprefixbefore | -isysroot | \
      -imultilib | -aux-info | -dumpbase | -dumpbase-ext | -dumpdir | -wrapper | -target | --target | -mllvm | --param | --sysroot | \
      -Xlinker | -Xassembler | -Xpreprocessor | -Xclang) return 0 ;;
    *) return 1 ;;
  esac
}

# Sets `step` to the step that an option is for. (Not printed: a subshell for each of ten thousand arguments takes too long.)
step_of() {
  case $1 in
    -L* | -Wl,* | -Xlinker | -T* | -u | -e | -z | -s | -r | -nostdlib | -nodefaultlibs | -nostartfiles | -fuse-ld=*) step=link ;;
    -c | -S | -E | -M* | -I* | -D* | -U* | -A | -include | -imacros | -isystem | -iquote | -idirafter | \
      -Xpreprocessor | -Wp,* | -fsyntax-only | -std=* | -nostdinc | -nostdinc++ | -aux-info | -dump*) step=compile ;;
    *) step=both ;;
  esac
}

# Whether a library of the host is left out: it has no counterpart here, or its counterpart is linked anyway.
is_host_library() {
  if [ "$hosted" = 1 ]; then return 1; fi
  case $1 in
    c | m | pthread | dl | rt | gcc | gcc_s | gcc_eh | stdc++ | supc++) return 0 ;;
    *) return 1 ;;
  esac
}

# Sets `language` by the end of a file's name, as gcc does, and for .ll and .qtjir; empty for an input of the linker.
language_of() {
  case $1 in
    *.c | *.i) language=c ;;
    *.h) language=c-header ;;
    *.cc | *.cp | *.cxx | *.cpp | *.CPP | *.c++ | *.C | *.ii) language=c++ ;;
    *.hh | *.hpp | *.hxx | *.HPP | *.h++ | *.H | *.tcc) language=c++-header ;;
    *.s | *.S | *.sx) language=assembler ;;
    *.ll) language=llvm ;;
    *.qtjir) language=qtjir ;;
    *) language='' ;;
  esac
}

# The result of reading the arguments: words in their order, because the linker's result depends on it, each with a kind (source,
# input, compile, link, both, trap, or value of the word before).
words=() kinds=() languages=() forced=() roots=()
machine=linux output='' links=1 position=fixed own_libraries=1 own_start=1 own_headers=1 own_cxx_headers=1 asks_compiler=0 dependencies=none
linker='' position_option='' hosted=0 names_target=0 is_static=0 dependency_target=0 standard=0 sources=0 inputs=0 preprocesses=0 sanitizers='' traps=0
preprocessed=0
# For .ll and .qtjir files: options of janus-lower, and whether its output is all that is asked for.
lower_options=() emits_llvm=0

add_word() {
  words+=("$1")
  kinds+=("$2")
  languages+=("${3:-}")
  forced+=("${4:-}")
}

# Build systems look up libraries by themselves and pass their files. These are handled as for -l: returns 1 for a library of the
# host that is left out, and sets `file` to the archive beside a shared library.
static_file_of() {
  local name=${1##*/} archive
  case $name in
    lib*.so | lib*.so.[0-9]*) ;;
    lib*.a)
      case $1 in
        /usr/lib/* | /usr/lib64/* | /lib/* | /lib64/*) ;;
        *) return 0 ;;
      esac
      ;;
    *) return 0 ;;
  esac
  name=${name#lib}
  name=${name%%.so*}
  is_host_library "${name%.a}" && return 1
  case $1 in *.a) return 0 ;; esac
  archive=${1%"${1##*/}"}lib$name.a
  [ -f "$archive" ] || refuse "$1: a program is one static file, and beside this shared library there is no $archive; install that, or link it by -l and -L from where it is"
  file=$archive
}

add_file() {
  local file=$1 language
  case $current_language:$file in
    none:-)
      # The language is known only once all options are: with -E it is C.
      language=stdin
      ;;
    none:*) language_of "$file" ;;
    assembler*) language=assembler ;;
    c:* | c-header:* | c++:* | c++-header:* | cpp-output:* | c++-cpp-output:*) language=$current_language ;;
    *) refuse "-x $current_language: janus-cc compiles C, C++ and assembly; compile that with its own compiler, and link the objects" ;;
  esac
  if [ "$hosted" = 0 ] && [ -z "$language" ]; then
    static_file_of "$file" || return 0
  fi
  language=${language/#cpp-output/c}
  language=${language%-cpp-output}
  inputs=$((inputs + 1))
  if [ -n "$language" ]; then
    sources=$((sources + 1))
    case $language in
      *-header) if [ "$links" = 1 ]; then links=header; fi ;;
    esac
    case $current_language:$file in
      cpp-output:* | c++-cpp-output:* | assembler:* | none:*.i | none:*.ii | none:*.s) preprocessed=1 ;;
    esac
    add_word "$file" source "${language%-header}" "${current_language#none}"
    return
  fi
  case $file in
    *.m | *.mm | *.f | *.F | *.f90 | *.F90 | *.for | *.go | *.d | *.adb | *.ads | *.rs | *.swift | *.zig)
      refuse "$file: janus-cc compiles C, C++ and assembly; compile this with its own compiler, and link the object or archive" ;;
  esac
  add_word "$file" input
}

# Adds a library given by its name or, behind a colon, by the name of its file.
add_library() {
  local library=$1 name=$1
  case $1 in
    :lib*.a) name=${1#:lib} name=${name%.a} ;;
    :lib*.so | :lib*.so.[0-9]*)
      name=${1#:lib} name=${name%%.so*}
      if [ "$hosted" = 0 ]; then library=$name; fi
      ;;
  esac
  is_host_library "$name" && return
  inputs=$((inputs + 1))
  add_word "-l$library" link
}

# Adds an option that makes sanitizers trap. trap_option() in compile.bash spells it for the compiler: gcc before 13 knows one only,
# which clang does not know.
take_trap() {
  traps=1
  add_word "$1" trap
}

# Whether the option $1 with the value $2 names a target by a triple of this machine, which clang knows.
is_triple() {
  local target=$2
  case $1 in *=*) target=${1#*=} ;; esac
  case $target in x86_64-*-* | amd64-*-*) ;; *) return 1 ;; esac
}

# As take_option, for a program on the host's C library (--hosted), where most options are simply passed on.
take_hosted_option() {
  case $1 in
    --hosted) ;;
    --target | --target=* | -target | -target=*)
      if is_triple "$1" "$2"; then return 1; fi
      names_target=$1${2:+ $2}
      ;;
    -static | --static | -static-pie)
      is_static=1
      add_word "$1" link
      ;;
    -pie | -no-pie | -nopie | -static-libasan | -static-libtsan | -static-libubsan | -static-liblsan | -static-libgcc | -static-libstdc++ | \
      -rdynamic) add_word "$1" link ;;
    -fsanitize=*)
      sanitizers+=${sanitizers:+,}${1#*=}
      add_word "$1" both
      ;;
    -o) output=$2 ;;
    -o?*) output=${1#-o} ;;
    -x) current_language=$2 ;;
    -x?*) current_language=${1#-x} ;;
    -l) add_library "$2" ;;
    -l?*) add_library "${1#-l}" ;;
    *) return 1 ;;
  esac
}

# Refuses options that make a shared library, for the compiler or for the linker.
refuse_shared() {
  case $1=$2 in
    -shared= | --shared= | -Xlinker=-shared | -Xlinker=--shared | -Xlinker=-Bshareable) ;;
    -Wl,*)
      case ,${1#-Wl,}, in *,-shared,* | *,--shared,* | *,-Bshareable,*) ;; *) return ;; esac
      ;;
    *) return ;;
  esac
  if [ "$hosted" = 1 ]; then
    refuse "$1${2:+ $2}: --hosted makes programs; link a shared library by the compiler itself, with -ljanus_hosted in the program"
  fi
  refuse "$1${2:+ $2}: a program is one static file; make an archive instead (configure --disable-shared, cmake -DBUILD_SHARED_LIBS=OFF, ar rcs libNAME.a)"
}

# Handles options that are dropped, refused, changed or recorded for later steps. False for all others.
take_option() {
  local option=$1 value=$2
  refuse_shared "$option" "$value"
  if [ "$hosted" = 1 ]; then
    take_hosted_option "$option" "$value"
    return
  fi
  case $option in
    -pthread | -pthreads | -static-libgcc | -static-libstdc++ | -rdynamic | --rdynamic | -export-dynamic) ;;
    --target=linux | --target=bare) machine=${option#--target=} ;;
    --target | --target=* | -target | -target=*)
      if is_triple "$option" "$value"; then return 1; fi
      refuse "$option${value:+ $value}: the targets are --target=linux, which is the default, and --target=bare, which runs without a kernel"
      ;;
    -m32 | -mx32 | -m16) refuse "$option: janus-rt is for 64 bits of x86 alone; leave it out" ;;
    -pg | -p) refuse "$option: profiles of calls are the host's C library's; leave it out, and use perf record" ;;
    --coverage | -coverage | -fprofile-arcs | -fprofile-generate* | -fprofile-instr-generate* | -fcoverage-mapping)
      refuse "$option: counters are written by the host's C library; build without, or count in a hosted build" ;;
    -fopenmp | -fopenmp=* | -fopenacc) refuse "$option: its threads are the host's; tasks and nurseries are what runs here" ;;
    -fsplit-stack) refuse "$option: stacks are the runtime's; ask for a larger one where a task is spawned" ;;
    -fsanitize-trap* | -fsanitize-undefined-trap-on-error) take_trap "$option" ;;
    -fsanitize=*)
      sanitizers+=${sanitizers:+,}${option#*=}
      add_word "$option" both
      ;;
    -nolibc) refuse "$option: the small C library starts main, and a function of the program's own wins over one of its; leave it out, or use -nostdlib" ;;
    -static | -no-pie | -nopie) position=fixed ;;
    -static-pie | -pie) position=independent position_option=$option ;;
    -o) output=$value ;;
    -o?*) output=${option#-o} ;;
    -x) current_language=$value ;;
    -x?*) current_language=${option#-x} ;;
    -l) add_library "$value" ;;
    -l?*) add_library "${option#-l}" ;;
    *) return 1 ;;
  esac
}

# Takes the options of janus-lower, which matter for .ll and .qtjir files alone.
take_lower_option() {
  case $1 in
    -fno-yield-checks | -fyield-checks | -fyield-interval=* | --profile=*) lower_options+=("$1") ;;
    --emit-llvm | -emit-llvm) links=0 emits_llvm=1 ;;
    *) return 1 ;;
  esac
}

# Takes note of options that are passed on and also matter to janus-cc.
note_option() {
  case $1 in
    -E | -M | -MM) links=0 preprocesses=1 ;;
    -c | -S | -fsyntax-only) links=0 ;;
    -MD | -MMD) [ "$dependencies" = named ] || dependencies=beside ;;
    -MF*) dependencies=named ;;
    -Wp,-MD,* | -Wp,-MMD,*) [ "$dependencies" != none ] || dependencies=preprocessor ;;
    -MT* | -MQ*) dependency_target=1 ;;
    -std=* | -ansi) standard=1 ;;
    --sysroot | -isysroot) roots+=("$1" "$2") ;;
    --sysroot=* | -isysroot* | --gcc-toolchain=*) roots+=("$1") ;;
    -nostdinc) own_headers=0 ;;
    -nostdinc++) own_cxx_headers=0 ;;
    -nostdlib | -nodefaultlibs | -r) own_libraries=0 ;;
    -nostartfiles) own_start=0 ;;
    -fuse-ld=*) linker=$1 ;;
    --version | --help | --help=* | -v | -dump* | --print-* | -print-* | -'###' | -Wl,--version | -Wl,-v | -Wl,-V | -Wl,--help | \
      -Wa,--version | -Q) asks_compiler=1 ;;
  esac
}

read_arguments() {
  local current_language=none i=0 argument value with_value step
  case " ${arguments[*]} " in
    *' --hosted '*) hosted=1 ;;
  esac
  while [ "$i" -lt "${#arguments[@]}" ]; do
    argument=${arguments[$i]} value='' with_value=0
    i=$((i + 1))
    if [[ $argument != -?* ]]; then
      add_file "$argument"
      continue
    fi
    case $argument in --*) shorten "$argument" ;; esac
    if [ "$with_value" = 0 ] && takes_value "$argument"; then
      [ "$i" -lt "${#arguments[@]}" ] || refuse "missing argument to '$argument'"
      value=${arguments[$i]} with_value=1
      i=$((i + 1))
    fi
    case $argument:$value in
      -Xlinker:--version | -Xlinker:-v) asks_compiler=1 ;;
    esac
    take_lower_option "$argument" && continue
    take_option "$argument" "$value" && continue
    note_option "$argument" "$value"
    step_of "$argument"
    add_word "$argument" "$step"
    if [ "$with_value" = 1 ]; then add_word "$value" value; fi
  done
  if [ "$links" = header ]; then links=0; fi
}

# As gcc does, reports every missing file, and ends with a further message if no file is left. Ends janus-cc if a file is missing.
check_inputs() {
  local i missing=0
  for i in "${!words[@]}"; do
    case ${kinds[$i]}:${words[$i]} in
      source:- | input:-)
        [ "${languages[$i]}" = stdin ] || continue
        [ "$preprocesses" = 1 ] || refuse '-E or -x required when input is from standard input'
        languages[i]=c forced[i]=c
        ;;
      source:* | input:*)
        [ -e "${words[$i]}" ] && continue
        say "error: ${words[$i]}: No such file or directory"
        missing=$((missing + 1))
        ;;
    esac
  done
  if [ "$missing" -eq "$inputs" ]; then
    say 'fatal error: no input files'
    echo 'compilation terminated.' >&2
    exit 1
  fi
  [ "$missing" -eq 0 ] || exit 1
}

check_hosted_options() {
  [ "$names_target" = 0 ] || refuse "--hosted: a program on the host's C library runs on the host; leave out --hosted or $names_target"
  if [ "$own_libraries" = 0 ] || [ "$own_start" = 0 ]; then
    refuse '--hosted: it is the C library and its start code that a sanitizer needs; leave out -nostdlib, -nodefaultlibs, -nostartfiles and -r'
  fi
  case ,$sanitizers, in
    *,memory,* | *,hwaddress,* | *,kernel-address,* | *,dataflow,* | *,cfi* | *,safe-stack,*)
      refuse "-fsanitize=$sanitizers: with --hosted there are address, leak, thread and undefined" ;;
    *,address,* | *,leak,* | *,thread,*)
      [ "$is_static" = 0 ] || refuse "-fsanitize=$sanitizers: a sanitizer wants a program that is linked dynamically; leave out -static" ;;
  esac
}

# Refuses an output that is the same file as an input, even by another name. (A device may be both.)
check_output() {
  local i result=$output
  if [ "$links" = 1 ]; then result=${output:-a.out}; fi
  [ -f "$result" ] || return 0
  for i in "${!words[@]}"; do
    case ${kinds[$i]} in
      source | input)
        if [ "${words[$i]}" -ef "$result" ]; then refuse "${words[$i]}: input file is the same as output file"; fi
        ;;
    esac
  done
}

check_linking() {
  if [ "$machine" = bare ] && [ "$position" = independent ]; then
    refuse "$position_option: an image of --target=bare lies where it is linked; leave out $position_option or --target=bare"
  fi
  case $linker:$machine in
    *gold:*) refuse "$linker: gold does not know what the linker scripts here say; leave it out for ld, or use -fuse-ld=lld" ;;
    *lld:bare) refuse "$linker: lld does not link an image for --target=bare; leave it out for ld" ;;
  esac
}

# Checks that need all options.
check_options() {
  if [ "$hosted" = 1 ]; then
    check_hosted_options
    sanitizers=''
  fi
  if [ -n "$sanitizers" ]; then
    case ,$sanitizers, in
      *,address,* | *,thread,* | *,leak,* | *,memory,* | *,hwaddress,* | *,kernel-address,* | *,dataflow,*)
        refuse "-fsanitize=$sanitizers: the sanitizers need the host's C library, which is not linked: add --hosted; undefined works with -fsanitize-trap, too" ;;
    esac
    [ "$traps" = 1 ] ||
      refuse "-fsanitize=$sanitizers: what would report it needs the host's C library, which is not linked; add -fsanitize-trap, so that a task ends there, or --hosted"
  fi
  if [ "$links" = 1 ] && [ "$own_libraries" = 1 ] && [ "$hosted" = 0 ]; then check_linking; fi
  check_output
  case $output in
    */*)
      [ -d "${output%/*}/" ] || refuse "$output: there is no directory ${output%/*}"
      ;;
  esac
}

# Sets `collected` to the words for one step, in their order. For linking this includes the files, with objects in place of sources.
collect() {
  local step=$1 i wanted=0
  collected=()
  for i in "${!words[@]}"; do
    case ${kinds[$i]} in
      source | input) wanted=0 ;;
      value) ;;
      "$step" | both | trap) wanted=1 ;;
      *) wanted=0 ;;
    esac
    if [ "${kinds[$i]}" = trap ]; then
      trap_option "${words[$i]}"
    elif [ "$wanted" = 1 ]; then
      collected+=("${words[$i]}")
    elif [ "$step" = link ]; then
      case ${kinds[$i]} in
        source) collected+=("${objects[$i]}") ;;
        input) collected+=("${words[$i]}") ;;
      esac
    fi
  done
}
