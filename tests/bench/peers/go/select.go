// SPDX-License-Identifier: Apache-2.0

package main

// A select statement has its cases in its text, so there is one for each number of channels.

func among(cases, capacity int) []chan uint64 {
	channels := make([]chan uint64, cases)
	for i := range channels {
		channels[i] = make(chan uint64, capacity)
	}
	return channels
}

// A send to a buffer, and a select that finds it.
func oneIsReady(cases, size int, choose func([]chan uint64) uint64) {
	channels := among(cases, 1)
	start := now()
	for i := 0; i < size; i++ {
		channels[i*5%cases] <- uint64(i)
		if choose(channels) != uint64(i) {
			panic("another element")
		}
	}
	figure("ns", float64(now()-start)/float64(size))
}

// A select that waits in all queues, and a send that it waits for.
func noneIsReady(cases, size int, choose func([]chan uint64) uint64) {
	channels := among(cases, 0)
	done := make(chan bool)
	go func() {
		for i := 0; i < size; i++ {
			if choose(channels) != uint64(i) {
				panic("another element")
			}
		}
		done <- true
	}()
	start := now()
	for i := 0; i < size; i++ {
		channels[i*5%cases] <- uint64(i)
	}
	<-done
	figure("ns", float64(now()-start)/float64(size))
}

func select2(size, workers int)      { oneIsReady(2, size, choose2) }
func select8(size, workers int)      { oneIsReady(8, size, choose8) }
func select64(size, workers int)     { oneIsReady(64, size, choose64) }
func selectWait2(size, workers int)  { noneIsReady(2, size, choose2) }
func selectWait8(size, workers int)  { noneIsReady(8, size, choose8) }
func selectWait64(size, workers int) { noneIsReady(64, size, choose64) }

func choose2(channels []chan uint64) (word uint64) {
	select {
	case word = <-channels[0]:
	case word = <-channels[1]:
	}
	return
}

func choose8(channels []chan uint64) (word uint64) {
	select {
	case word = <-channels[0]:
	case word = <-channels[1]:
	case word = <-channels[2]:
	case word = <-channels[3]:
	case word = <-channels[4]:
	case word = <-channels[5]:
	case word = <-channels[6]:
	case word = <-channels[7]:
	}
	return
}

func choose64(channels []chan uint64) (word uint64) {
	select {
	case word = <-channels[0]:
	case word = <-channels[1]:
	case word = <-channels[2]:
	case word = <-channels[3]:
	case word = <-channels[4]:
	case word = <-channels[5]:
	case word = <-channels[6]:
	case word = <-channels[7]:
	case word = <-channels[8]:
	case word = <-channels[9]:
	case word = <-channels[10]:
	case word = <-channels[11]:
	case word = <-channels[12]:
	case word = <-channels[13]:
	case word = <-channels[14]:
	case word = <-channels[15]:
	case word = <-channels[16]:
	case word = <-channels[17]:
	case word = <-channels[18]:
	case word = <-channels[19]:
	case word = <-channels[20]:
	case word = <-channels[21]:
	case word = <-channels[22]:
	case word = <-channels[23]:
	case word = <-channels[24]:
	case word = <-channels[25]:
	case word = <-channels[26]:
	case word = <-channels[27]:
	case word = <-channels[28]:
	case word = <-channels[29]:
	case word = <-channels[30]:
	case word = <-channels[31]:
	case word = <-channels[32]:
	case word = <-channels[33]:
	case word = <-channels[34]:
	case word = <-channels[35]:
	case word = <-channels[36]:
	case word = <-channels[37]:
	case word = <-channels[38]:
	case word = <-channels[39]:
	case word = <-channels[40]:
	case word = <-channels[41]:
	case word = <-channels[42]:
	case word = <-channels[43]:
	case word = <-channels[44]:
	case word = <-channels[45]:
	case word = <-channels[46]:
	case word = <-channels[47]:
	case word = <-channels[48]:
	case word = <-channels[49]:
	case word = <-channels[50]:
	case word = <-channels[51]:
	case word = <-channels[52]:
	case word = <-channels[53]:
	case word = <-channels[54]:
	case word = <-channels[55]:
	case word = <-channels[56]:
	case word = <-channels[57]:
	case word = <-channels[58]:
	case word = <-channels[59]:
	case word = <-channels[60]:
	case word = <-channels[61]:
	case word = <-channels[62]:
	case word = <-channels[63]:
	}
	return
}
